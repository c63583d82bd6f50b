import { applyChosen } from '../commands.js';
import type { Command } from '../command/run.js';
import { checkRequest, type RunOptions, type RunRequest } from '../command/run-request.js';
import type { Escalation } from '../model/escalation.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';
import { readRunState } from '../run/event-log.js';
import { type ShownEscalation, withPatches } from '../run/read-patch.js';
import { isRunId, runDirOf } from '../run/run-folder.js';
import { createRedactor } from '../secrets/redactor.js';

/** The flags that a command passes on. */
export interface Flags {
  readonly agents?: string | undefined;
  readonly store?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Reads the patches that are ready, for whoever decides. */
export async function shown(asked: Escalation): Promise<ShownEscalation> {
  const projectRoot = process.cwd();
  return withPatches(projectRoot, asked, await createRedactor({ env: process.env, projectRoot }));
}

/** Returns the run that applies and proves the patch that a person chooses, or the problem that keeps it from starting. */
export async function chosenRequest(
  { runId }: Pick<Escalation, 'runId'>,
  flags: Flags,
): Promise<Result<RunRequest, Problem>> {
  const cwd = process.cwd();
  const run = isRunId(runId) ? await readRunState(runDirOf(cwd, runId)) : null;
  const { askedOf } = await import('../heal/asked.js');
  // Without its folder there is no patch, either, which the run says.
  const asked = run?.request ? await askedOf(run, cwd) : ok(null);
  if (!asked.ok) return asked;
  const { filters = [], passThrough = [], options = {} } = asked.value ?? {};
  const request: RunRequest = {
    cwd,
    env: process.env,
    name: 'escalations',
    filters,
    passThrough,
    options: { ...options, ...given(flags) },
  };
  const checked = await checkRequest(request);
  return checked.ok ? ok(request) : checked;
}

/** Returns what is done in that run. */
export function chosenCommand({ tests }: Pick<Escalation, 'tests'>): Command {
  return applyChosen(tests.map(({ id }) => id));
}

function given({ agents, store, json = false }: Flags): RunOptions {
  return { ...(agents === undefined ? {} : { agents }), ...(store === undefined ? {} : { store }), json };
}
