import path from 'node:path';
import { z } from 'zod';
import { isBuiltIn } from '../core/built-in-fixer.js';
import { verifyLevels } from '../core/settings.js';
import { seenShape } from '../event.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { type Change, readChange } from '../workspace/change.js';
import { isInside, real } from '../paths.js';
import { rootOf } from '../workspace/project-files.js';
import type { SavedProgress } from './save-progress.js';
import type { SeenTest } from '../event.js';
import { noRun, type SuiteRun } from '../playwright/suite-run.js';
import type { ShardCount } from '../playwright/reports/report.js';
import type { SuiteRuns, Watching } from './suite-runs.js';
import { readRunState } from '../run/event-log.js';
import type { UnfinishedRun } from '../run/unfinished-run.js';

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
    parallel: z.int().positive().exactOptional(),
    verify: z.enum(verifyLevels).exactOptional(),
    json: flag,
    failOnHeal: flag,
    failOnFlakyTests: flag,
    from: z.array(z.string()).exactOptional(),
    allowMissingShards: flag,
  }),
  shards: z.object({ total: z.number(), missing: z.array(z.number()) }).exactOptional(),
});

const progressShape: z.ZodType<SavedProgress | null> = z
  .object({
    suiteOpen: z.boolean(),
    tests: z.array(z.object({ test: seenShape, open: z.boolean(), rerunIds: z.array(z.string()) })),
  })
  .nullable();

/** What a stored run asked for, and how far it got. */
export interface StoredWork {
  readonly asked: z.infer<typeof askedShape>;
  readonly progress: SavedProgress | null;
}

/** Reads what is stored of a run: a `Problem` if it is not as self-heal stores it, or names a place outside of the project. */
export async function storedWork(
  { runId, request, progress }: UnfinishedRun,
  cwd: string,
): Promise<Result<StoredWork, Problem>> {
  const [asked, got] = [askedShape.safeParse(request), progressShape.safeParse(progress)];
  if (!asked.success || !got.success) return err(unreadable(runId));
  const { config, agents, from = [] } = asked.data.options;
  const root = await rootOf(cwd);
  const isOutside = (place: string) => !isInside(root, real(path.resolve(cwd, place)));
  const outside = [config, agents, ...from].find((place) => place && isOutside(place));
  return outside ? err(leadsOut(runId, outside)) : ok({ asked: asked.data, progress: got.data });
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

/** Reads how far a stored run got. If it was killed before it knew its tests, everything runs again, with the counts it stored. */
export async function resumedFrom(
  runId: string,
  { asked: { shards }, progress }: StoredWork,
  runDir: string,
): Promise<Resumed> {
  const isWhole = progress === null || progress.suiteOpen;
  const tests = isWhole ? [] : progress.tests;
  const ids = [...new Set(tests.filter((one) => one.open).flatMap((one) => one.rerunIds))];
  return {
    runId,
    ...(shards ? { shards } : {}),
    kept: await keptFixes(runDir),
    carried: tests.flatMap((one) => (one.open ? [] : [one.test])),
    open: isWhole ? null : tests.flatMap((one) => (one.open ? [one.test] : [])),
    firstRun: (suites, stdout, watching) => {
      if (isWhole) return suites.first(stdout, watching);
      if (ids.length === 0) return Promise.resolve(noRun('passed'));
      return suites.again({ ids, purpose: 'first', causeId: null, watching });
    },
  };
}

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
export async function keptFixes(runDir: string): Promise<ReadonlyMap<string, KeptFix>> {
  const { causes } = await readRunState(runDir);
  const kept = new Map<string, KeptFix>();
  for (const { summary, attempts } of causes) {
    const { held, judged } = attempts.at(-1) ?? {};
    // An interrupted attempt has not been judged.
    const isOpen = !judged || judged.end.kind === 'interrupted';
    if (!isOpen || !held?.agent || !held.change || isBuiltIn({ runner: held.agent })) continue;
    const change = readChange(runDir, held.change);
    if (change) kept.set(summary.signature, { agent: held.agent, change, runDir });
  }
  return kept;
}

/** Returns the text that describes the fix. */
export function keptFixSummary({ agent, runDir }: KeptFix): string {
  return `the fix of ${agent} from run ${path.basename(runDir)}, whose proof was interrupted`;
}
