import path from 'node:path';
import { z } from 'zod';
import { isBuiltIn } from '../core/built-in.js';
import { verifyLevels } from '../core/settings.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { type Change, readChange } from '../workspace/change.js';
import { isInside, real } from '../paths.js';
import { rootOf } from '../workspace/project-files.js';
import type { SeenTest } from '../event.js';
import { noRun, type SuiteRun } from '../playwright/suite-run.js';
import type { ShardCount } from '../playwright/reports/report.js';
import type { SuiteRuns, Watching } from './suite-runs.js';
import type { CauseState, RunState } from '../run/run-state.js';
import { reportTests, type ReportTest } from '../run/report.js';
import { isHealed, isResolved, type Verdict } from '../core/verdict.js';

/** An unfinished run, as the run that resumes it sees it. */
export interface Resumed {
  readonly runId: string;
  /** The tests that it had finished. */
  readonly carried: readonly SeenTest[];
  /** The tests that it had not finished; null if it never learned its tests, so that its whole selection runs. */
  readonly open: readonly SeenTest[] | null;
  /** The shards it was healing, if any. */
  readonly shards?: ShardCount;
  /** Its fixes that were green but not proven yet, by signature. */
  readonly kept: ReadonlyMap<string, KeptFix>;
  /** Runs only what it had not finished. */
  firstRun(suites: SuiteRuns, stdout: number, watching: Watching): Promise<SuiteRun>;
}

const flag = z.boolean().exactOptional();
const number = z.number().exactOptional();
const text = z.string().exactOptional();

/** The command as typed. A store is never stored: its URL may hold a password. */
const askedShape = z.object({
  /** It was `self-heal flaky`. */
  flaky: z.literal(true).exactOptional(),
  filters: z.array(z.string()),
  passThrough: z.array(z.string()),
  options: z.object({
    config: text,
    grep: text,
    grepInvert: text,
    project: z.array(z.string()).exactOptional(),
    shard: text,
    workers: z.union([z.string(), z.number()]).exactOptional(),
    repeatEach: number,
    retries: number,
    timeout: number,
    lastFailed: flag,
    onlyChanged: z.union([z.string(), z.boolean()]).exactOptional(),
    x: flag,
    maxFailures: number,
    headed: flag,
    agents: text,
    flaky: flag,
    parallel: z.int().positive().exactOptional(),
    verify: z.enum(verifyLevels).exactOptional(),
    json: flag,
    failOnHeal: flag,
    failOnFlakyTests: flag,
    from: z.array(z.string()).exactOptional(),
    allowMissingShards: flag,
  }),
});

/** The command of a stored run. */
export type Asked = z.infer<typeof askedShape>;

/** Reads what a stored run asked for: a `Problem` if it is not as self-heal stores it, or names a place outside of the project. */
export async function askedOf(
  { runId, request }: Pick<RunState, 'runId' | 'request'>,
  cwd: string,
): Promise<Result<Asked, Problem>> {
  const asked = askedShape.safeParse(request);
  if (!asked.success) return err(unreadable(runId));
  const { config, agents, from = [] } = asked.data.options;
  const root = await rootOf(cwd);
  const isOutside = (place: string) => !isInside(root, real(path.resolve(cwd, place)));
  const outside = [config, agents, ...from].find((place) => place && isOutside(place));
  return outside ? err(leadsOut(runId, outside)) : ok(asked.data);
}

function unreadable(runId: string): Problem {
  return {
    kind: 'store-unreadable',
    message: `what is stored of run ${runId} is damaged`,
    remedy: 'Start a new one with `self-heal run`.',
  };
}

function leadsOut(runId: string, place: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} was given ${place}, which is outside of the project`,
    remedy:
      'Start a new one with `self-heal run` and the same flags: what is stored may have come from anybody.',
  };
}

/**
 * Returns how far a run got, as its events tell. If it was killed before it knew its tests, everything runs again; as it does for `self-heal flaky`,
 * which measures a whole selection.
 */
export function resumedFrom(run: RunState, runDir: string, isFlaky = false): Resumed {
  const isWhole = isFlaky || run.tests.size === 0 || isSuiteOpen(run);
  const done = new Set(run.causes.filter(isFinal).map(({ summary }) => summary.id));
  const tests = isWhole ? [] : reportTests(run);
  const isOpen = ({ verdict, causeId }: ReportTest) =>
    openVerdicts.includes(verdict) || (verdict === 'failed' && !done.has(causeId ?? ''));
  const seen = (one: ReportTest): SeenTest => {
    const { causeId: _, causeIds: __, ...test } = one;
    const { rerunIds } = run.tests.get(test.id) ?? {};
    return { ...test, ...(rerunIds ? { rerunIds } : {}) };
  };
  const open = tests.filter(isOpen).map(seen);
  const carried = tests.filter((one) => !isOpen(one)).map(seen);
  const ids = [...new Set(open.flatMap(({ id, rerunIds }) => rerunIds ?? [id]))];
  return {
    runId: run.runId,
    ...(run.shards ? { shards: run.shards } : {}),
    kept: keptFixes(run, runDir),
    carried,
    open: isWhole ? null : open,
    firstRun: (suites, stdout, watching) => {
      if (isWhole) return suites.first(stdout, watching);
      if (ids.length === 0) return Promise.resolve(noRun('passed'));
      return suites.again({ ids, purpose: 'first', causeId: null, watching });
    },
  };
}

/** Whether the suite's own failure is still open, so that only the whole selection shows what is left. */
function isSuiteOpen({ suiteBroken, causes }: RunState): boolean {
  const isHealedSuite = ({ summary, ended }: CauseState) =>
    summary.tests.length === 0 && ended !== null && isHealed(ended.verdict);
  return suiteBroken && !causes.some(isHealedSuite);
}

/**
 * Whether nothing is left to do for the red tests of a cause. Tests that a healed or superseded cause left red get a cause of their own
 * (HL-3, HL-6).
 */
function isFinal({ ended }: CauseState): boolean {
  return ended !== null && !isResolved(ended.verdict) && !ended.overBudget && ended.verdict !== 'interrupted';
}

/** The question may have been answered, the program repaired; and no run got to the last ones. */
const openVerdicts: readonly Verdict[] = ['escalated', 'agent-unusable', 'not-run'];

/** Returns the unfinished tests that no longer exist, as failed: a test that is gone is not fixed (HL-10). */
export function goneTests({ open }: Resumed, first: SuiteRun): SeenTest[] {
  if (first.suiteFailure !== null || first.status === 'interrupted') return [];
  const there = new Set(first.tests.map(({ test }) => test.id));
  return (open ?? []).flatMap((test) => (there.has(test.id) ? [] : [{ ...test, verdict: 'failed' }]));
}

/** A fix of a run that was killed before it was decided: it was green once, or it led to another error. */
export interface KeptFix {
  /** The agent that made it. */
  readonly agent: string;
  readonly change: Change;
  /** The folder of its run. */
  readonly runDir: string;
}

/** Returns the agents' fixes that the end of a run left undecided, by signature, so that nobody is paid for them again (ME-8). */
export function keptFixes({ causes }: RunState, runDir: string): ReadonlyMap<string, KeptFix> {
  const kept = new Map<string, KeptFix>();
  for (const { summary, attempts } of causes) {
    const { held, judged } = attempts.at(-1) ?? {};
    // An interrupted attempt has not been judged.
    const isOpen = !judged || judged.end.kind === 'interrupted';
    if (!isOpen || !held?.agent || !held.change || isBuiltIn(held)) continue;
    const change = readChange(runDir, held.change);
    if (change) kept.set(summary.signature, { agent: held.agent, change, runDir });
  }
  return kept;
}

/** Returns the text that describes the fix. */
export function keptFixSummary({ agent, runDir }: KeptFix): string {
  return `the fix of ${agent} from run ${path.basename(runDir)}, whose proof was interrupted`;
}
