import { failureKey } from '../model/failure.js';
import { isGreen, type Observation } from './judge.js';
import { isLoopback, splitUrl } from '../urls.js';
import { findListener } from '../process/listener.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { isUndecided, observation } from './observations.js';
import { type Progress, type ProofTest, causeStateOf } from './progress.js';

/** What a clean copy shows of a test that is green there with its fix: red or green without it. Otherwise, why it shows nothing. */
type InCleanCopy =
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
 * taken out of the project now, green with all changes. `unable` says why these could not be taken out. Afterwards, all are in the project.
 */
export async function proveInCleanCopy(
  progress: Progress,
  tests: readonly ProofTest[],
  {
    ids,
    without: out,
    unable,
  }: { readonly ids: readonly string[]; readonly without: readonly string[]; readonly unable: string | null },
): Promise<void> {
  const { session } = progress;
  const { workspace, observations } = session;
  const key = ({ failure }: ProofTest) => failureKey(failure.failure);
  const run = () => session.suite.runInCleanCopy({ ids, since: begunAt(progress, tests) });
  const whyNot = unable ?? (await otherServer(tests));
  const without = whyNot ?? (await run());
  await workspace.takeOut([]);
  const withAll = typeof without === 'string' ? without : await run();
  if (session.signal.aborted) return;
  const fixes = workspace.listApplied().filter((id) => !out.includes(id));
  for (const test of tests) {
    const shown: InCleanCopy =
      typeof without === 'string' || typeof withAll === 'string'
        ? { state: 'nothing', because: typeof withAll === 'string' ? withAll : '' }
        : compare(runOf(without, test), runOf(withAll, test));
    const because = shown.state === 'nothing' ? { because: shown.because } : {};
    const how = { part: 'shared', isClean: true } as const;
    observations.add(new Map([[key(test), seen[shown.state]]]), { ...how, ...because, fixes, without: out });
    if (shown.state !== 'nothing') observations.add(new Map([[key(test), seen.green]]), how);
  }
}

const seen: Readonly<Record<InCleanCopy['state'], Observation>> = {
  red: { ended: 'failed', failure: null, suiteFailure: null },
  green: { ended: 'passed', failure: null, suiteFailure: null },
  nothing: { ended: 'not-run', failure: null, suiteFailure: null },
};

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
    const listener = await findListener(Number(port) || (protocol === 'https:' ? 443 : 80));
    if (listener) return `${origin} is served by a program that the suite does not start`;
  }
  return null;
}
