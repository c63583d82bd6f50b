import { withEnvironment } from '../environment.js';
import type { StampedEvent } from '../event.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Report } from '../run/report.js';
import type { Command } from './run.js';
import type { RunRequest } from './run-request.js';

/** How a program follows a run, and interrupts it. */
export interface HostOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: StampedEvent) => void) | undefined;
}

/** Runs a command inside another program and returns its report. Prints nothing to standard output, and listens for no signals. */
export async function runHosted(
  request: Omit<RunRequest, 'host'>,
  command: Command,
  { signal = new AbortController().signal, onEvent = () => undefined }: HostOptions,
): Promise<Result<Report, Problem>> {
  let report: Report | null = null;
  const { runCommand } = await import('./run-command.js');
  const onReport = (final: Report) => {
    report = final;
  };
  const hosted = { ...request, host: { signal, onEvent, onReport } };
  const ended = await withEnvironment(request.env, () => runCommand(hosted, command));
  if (typeof ended !== 'number') return err(ended);
  if (report === null) throw new Error('The run ended without a report');
  return ok(report);
}
