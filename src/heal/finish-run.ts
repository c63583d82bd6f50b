import path from 'node:path';
import { avoidedIn, reportOf } from '../run/report-of.js';
import { reduce } from '../run/reduce.js';
import { outcomeOf } from '../core/outcome.js';
import { exitCodes } from '../core/exit-codes.js';
import { writeProgramReports, showResult } from '../outputs/show-result.js';
import { say } from '../outputs/streams.js';
import type { Healed } from './progress.js';
import { writeState } from '../state-folder.js';
import type { Interrupts } from '../process/interrupts.js';
import { systemClock } from '../clock.js';
import type { Session } from './session.js';
import type { Opened } from './open-run.js';

/** A run at its end. */
export interface Finished {
  readonly healed: Healed;
  /** Null if nothing was red. */
  readonly session: Pick<Session, 'store' | 'spending'> | null;
  /** The commit it ran on; null if there were uncommitted changes. */
  readonly commit: string | null;
  readonly interrupts: Interrupts;
}

/** Writes and shows the result of a run; returns its exit code. */
export async function finishRun(
  { request, folder, bus, redactor, startedAt }: Opened,
  { healed, session, commit, interrupts }: Finished,
): Promise<number> {
  const { options } = request;
  const tests = [...bus.run().tests.values()].map(({ verdict }) => verdict);
  const final = outcomeOf({
    ...healed,
    tests,
    interruptedBy: interrupts.by(),
    failOnHeal: options.failOnHeal ?? false,
    failOnFlaky: options.failOnFlakyTests ?? false,
  });
  const agentRunsAvoided = avoidedIn(bus.run());
  const flaky = tests.filter((verdict) => verdict === 'flaky').length;
  await session?.store.ended(final);
  // What is changed from now on is told from what was there.
  if (final.outcome !== 'green' && !healed.verified)
    await keepTree(folder.dir, request.cwd).catch(() => undefined);
  const time = systemClock.now();
  const spent = { ...(session?.spending.totals() ?? { agentRuns: 0, costUsd: null }), agentRunsAvoided };
  const ended = { type: 'run.ended', ...final, ...spent, durationMs: time - startedAt, commit } as const;
  const reportNow = () => {
    const report = reportOf(reduce(bus.run(), { ...ended, time }));
    // Texts from before a failure may contain secrets that only the failure revealed.
    return flaky + report.causes.length > 0 ? redactor.deep(report) : report;
  };
  const asJson = options.list ? (await import('./matrix.js')).matrixOf : undefined;
  const place = { dir: folder.dir, cwd: request.cwd, env: request.env, options, ...(asJson && { asJson }) };
  let report = reportNow();
  // If another tool's report cannot be written, the run has not failed: report.json and the terminal mention it.
  for (const message of await writeProgramReports(report, place)) {
    bus.emit({ type: 'run.warning', message });
    report = reportNow();
  }
  writeState(path.join(place.dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  bus.emit(ended);
  const broken = await bus.close();
  for (const problem of broken) say(redactor.clean(problem));
  await showResult(report, place);
  // That something is red is what the list is for.
  if (options.list) return exitCodes.green;
  return broken.length > 0 && final.exitCode === exitCodes.green ? exitCodes.red : final.exitCode;
}

/** Loaded only after a red run (CL-4). */
async function keepTree(dir: string, cwd: string): Promise<void> {
  const { keepTreeState } = await import('../run/tree-state.js');
  await keepTreeState(dir, cwd);
}
