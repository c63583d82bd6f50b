import type { Escalation } from '../core/escalation.js';
import { exitCodes } from '../core/exit-codes.js';
import type { RunOptions, RunRequest } from '../heal/run-request.js';
import { canAsk } from '../outputs/ask.js';
import type { Problem } from '../problem.js';
import { withStore } from '../store/with-store.js';
import { resolveEscalation } from './resolve-escalation.js';

/** The flags that a command passes on. */
interface Flags {
  readonly agents?: string | undefined;
  readonly store?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Whether an answer chose a patch, which is then applied and proven. */
export function hasChosen({ choice }: Escalation): boolean {
  return choice === 'tests' || choice === 'app';
}

/** Applies the patch that a person has chosen, and proves it on the tests of its question, without an agent. Returns the exit code of that run. */
export async function proveChosen(
  { runId, tests }: Pick<Escalation, 'runId' | 'tests'>,
  flags: Flags,
): Promise<number | Problem> {
  const asked = await withStore(flags, async (store) => (await store?.run(runId)) ?? null);
  if (asked && 'kind' in asked) return asked;
  const { filters = [], passThrough = [], options = {} } = (asked?.request ?? {}) as Partial<RunRequest>;
  const { from: _, dryRun: __, ...selection }: RunOptions = options;
  const { runSelfHeal } = await import('../heal/whole-run.js');
  return runSelfHeal({
    cwd: process.cwd(),
    env: process.env,
    filters,
    passThrough,
    options: { ...selection, ...given(flags) },
    chosenFor: tests.map(({ id }) => id),
  });
}

function given({ agents, store, json = false }: Flags): RunOptions {
  return { ...(agents === undefined ? {} : { agents }), ...(store === undefined ? {} : { store }), json };
}

/**
 * After a run in a terminal: asks what is waiting for an answer and has a patch ready. Leaving without an answer changes nothing. Returns the
 * exit code, which stays that of the run unless every patch was chosen and proven.
 */
export async function askAfterRun(result: number | Problem, flags: Flags): Promise<number | Problem> {
  if (result !== exitCodes.personNeeded || flags.json || !canAsk(process.env, process)) return result;
  const open = await withStore(flags, async (store) => (await store?.escalations('pending')) ?? []);
  if ('kind' in open) return open;
  let left = false;
  for (const asked of open.filter(({ offers }) => offers.length > 0)) {
    const answered = await withStore(flags, async (store) => store && resolveEscalation(store, asked, flags));
    if (answered === null || typeof answered === 'number') left = true;
    else if ('kind' in answered) return answered;
    else left = !hasChosen(answered) || (await proveChosen(answered, flags)) !== exitCodes.green || left;
  }
  return left || open.some(({ offers }) => offers.length === 0) ? result : exitCodes.green;
}
