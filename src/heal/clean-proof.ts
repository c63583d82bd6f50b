import { failureKey } from '../model/failure.js';
import { isGreen, type Observation } from './judge.js';
import { isLoopback, splitUrl } from '../urls.js';
import { listenerOn } from '../process/listener.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { isUndecided, observation } from './observations.js';
import { type Progress, type ProofTest, causeStateOf } from './progress.js';

/** What a clean copy shows of a test that is green there with its fix: red or green without it. Otherwise, why it shows nothing. */
export type InCleanCopy =
  { readonly state: 'red' | 'green' } | { readonly state: 'nothing'; readonly because: string };

/** Returns the files outside of git that changed since the work on these tests' causes began. A revert does not restore them. */
export function leftovers(progress: Progress, tests: readonly ProofTest[]): Promise<string[]> {
  return progress.session.workspace.listChangedOutsideGit(begunAt(progress, tests));
}

function begunAt(progress: Progress, tests: readonly ProofTest[]): number {
  const begun = tests.flatMap(({ causeId }) => causeStateOf(progress, { id: causeId })?.startedAt ?? []);
  return begun.length > 0 ? Math.min(...begun) : 0;
}

/**
 * Proves that tests need their fixes, in a copy that has only what git tracks, the packages and `.env` files (HN-5): red without the changes that are
 * taken out of the project now, green with all changes. Afterwards, all are in the project.
 */
export async function proveInCleanCopy(
  progress: Progress,
  tests: readonly ProofTest[],
  ids: readonly string[],
): Promise<ReadonlyMap<ProofTest, InCleanCopy>> {
  const { session } = progress;
  const { workspace, observations } = session;
  const none = (because: string) =>
    new Map(tests.map((test) => [test, { state: 'nothing', because } as const]));
  const other = await otherServer(tests);
  if (other !== null) return none(other);
  const run = () => session.runInCleanCopy({ ids, since: begunAt(progress, tests) });
  const fixes = workspace.listApplied();
  const without = await run();
  await workspace.takeOut([]);
  if (typeof without === 'string') return none(without);
  const withAll = await run();
  if (typeof withAll === 'string') return none(withAll);
  if (session.signal.aborted) return none('interrupted');
  const results = new Map(tests.map((test) => [test, compare(runOf(without, test), runOf(withAll, test))]));
  const decided = tests.filter((test) => results.get(test)?.state !== 'nothing');
  const rows = (of: SuiteRun) =>
    new Map(decided.map((test) => [failureKey(test.failure.failure), runOf(of, test).observation]));
  observations.add(rows(without), fixes);
  observations.add(rows(withAll));
  return results;
}

interface TestRun {
  readonly observation: Observation;
  readonly run: SuiteRun;
}

function runOf(run: SuiteRun, { failure }: ProofTest): TestRun {
  return { observation: observation({ run, failures: [] }, failure), run };
}

function compare(without: TestRun, withAll: TestRun): InCleanCopy {
  const { run } = withAll;
  const nothing = (because: string): InCleanCopy => ({ state: 'nothing', because });
  const reused = run.reusedServer ?? without.run.reusedServer;
  if (reused) return nothing(`${reused} was being served already, and not from the copy`);
  if (!isGreen(withAll.observation)) {
    const [error] = run.suiteFailure?.errors ?? [];
    const started = error ? `the suite fails there: ${error.message.split('\n')[0]}` : null;
    return nothing(started ?? 'the test is not green there with the fix either');
  }
  if (isGreen(without.observation)) return { state: 'green' };
  const hasRun = without.run.tests.some(({ outcome }) => outcome !== 'not-run');
  return isUndecided(without.observation) && hasRun
    ? nothing('the test did not run there without the fix')
    : { state: 'red' };
}

/** Returns why a run in a copy would not show the copy: a server that the suite does not start itself. Null if there is none. */
async function otherServer(tests: readonly ProofTest[]): Promise<string | null> {
  const visited = tests.flatMap(({ failure: { evidence } }) => [
    evidence.pageUrl ?? '',
    ...evidence.network.flatMap(({ url, resourceType }) =>
      resourceType === 'document' || resourceType === 'api' ? [url] : [],
    ),
  ]);
  const origins = [...new Set(visited.flatMap((url) => (/^https?:/.test(url) ? new URL(url).origin : [])))];
  const own = origins.filter((origin) => isLoopback(splitUrl(origin)?.host ?? ''));
  if (own.length === 0 && origins[0] !== undefined) return `its pages come from ${origins[0]}`;
  for (const origin of own) {
    const { port, protocol } = new URL(origin);
    const listener = await listenerOn(Number(port) || (protocol === 'https:' ? 443 : 80));
    if (listener) return `${origin} is served by a program that the suite does not start`;
  }
  return null;
}
