import { failureKey } from '../model/failure.js';
import { isGreen, type Observation } from './judge.js';
import { isLoopback, splitUrl } from '../urls.js';
import { findListener } from '../process/listener.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { isUndecided, observeFailure } from './observations.js';
import { type Progress, type ProofTest, findCauseState } from './progress.js';

/** The outcome of a test in a clean copy without its fix, if it is green there with the fix; otherwise, why the copy shows nothing. */
type CleanCopyResult =
  { readonly state: 'red' | 'green' } | { readonly state: 'nothing'; readonly because: string };

/** Returns the files outside git that changed since work on the causes of these tests began. Reverting a fix does not restore them. */
export function listLeftovers(progress: Progress, tests: readonly ProofTest[]): Promise<string[]> {
  return progress.session.workspace.listChangedOutsideGit(findStartTime(progress, tests));
}

function findStartTime(progress: Progress, tests: readonly ProofTest[]): number {
  const starts = tests.flatMap(({ causeId }) => findCauseState(progress, { id: causeId })?.startedAt ?? []);
  return starts.length > 0 ? Math.min(...starts) : 0;
}

/**
 * Proves that tests need their fixes in a copy with only tracked files, packages and `.env` files (HN-5): red without the changes that are now
 * reverted in the project, green with all changes. `whyNotReverted` is set if these could not be reverted. Afterwards, all changes are in the project again.
 */
export async function proveInCleanCopy(
  progress: Progress,
  tests: readonly ProofTest[],
  {
    ids,
    without: reverted,
    whyNotReverted,
  }: Record<'ids' | 'without', readonly string[]> & { readonly whyNotReverted: string | null },
): Promise<void> {
  const { session } = progress;
  const { workspace, observations } = session;
  const getKey = ({ failure }: ProofTest) => failureKey(failure.failure);
  const run = () => session.suite.runInCleanCopy({ ids, since: findStartTime(progress, tests) });
  const obstacle = whyNotReverted ?? (await explainForeignServer(tests));
  const without = obstacle ?? (await run());
  await workspace.revertTemporarily([]);
  const withFix = typeof without === 'string' ? without : await run();
  if (session.signal.aborted) return;
  const fixes = workspace.listApplied().filter((id) => !reverted.includes(id));
  for (const test of tests) {
    const result: CleanCopyResult =
      typeof without === 'string' || typeof withFix === 'string'
        ? { state: 'nothing', because: typeof withFix === 'string' ? withFix : '' }
        : compareRuns(selectTest(without, test), selectTest(withFix, test));
    const because = result.state === 'nothing' ? { because: result.because } : {};
    const state = { part: 'shared', isClean: true } as const;
    const observed = new Map([[getKey(test), observationByState[result.state]]]);
    observations.add(observed, { ...state, ...because, fixes, without: reverted });
    if (result.state !== 'nothing')
      observations.add(new Map([[getKey(test), observationByState.green]]), state);
  }
}

const observationByState: Readonly<Record<CleanCopyResult['state'], Observation>> = {
  red: { ended: 'failed', failure: null, suiteFailure: null },
  green: { ended: 'passed', failure: null, suiteFailure: null },
  nothing: { ended: 'not-run', failure: null, suiteFailure: null },
};

interface TestRun {
  readonly observation: Observation;
  readonly run: SuiteRun;
}

function selectTest(run: SuiteRun, { failure }: ProofTest): TestRun {
  return { observation: observeFailure({ run, failures: [] }, failure), run };
}

function compareRuns(without: TestRun, withFix: TestRun): CleanCopyResult {
  const { run } = withFix;
  const showsNothing = (because: string): CleanCopyResult => ({ state: 'nothing', because });
  const reused = run.reusedServer ?? without.run.reusedServer;
  if (reused) return showsNothing(`${reused} was already being served, but not from the copy`);
  if (!isGreen(withFix.observation)) {
    const [error] = run.suiteFailure?.errors ?? [];
    const suiteError = error ? `the suite fails there: ${error.message.split('\n')[0]}` : null;
    return showsNothing(suiteError ?? 'even with the fix, the test is not green there');
  }
  if (isGreen(without.observation)) return { state: 'green' };
  const hasRun = without.run.tests.some(({ outcome }) => outcome !== 'not-run');
  return isUndecided(without.observation) && hasRun
    ? showsNothing('the test did not run there without the fix')
    : { state: 'red' };
}

/** Explains why a run in a copy would not test the copy: the suite uses a server that it does not start. Returns null if it starts all its servers. */
async function explainForeignServer(tests: readonly ProofTest[]): Promise<string | null> {
  const urls = tests.flatMap(({ failure: { evidence } }) => [
    evidence.pageUrl ?? '',
    ...evidence.network.flatMap(({ url, resourceType }) =>
      resourceType === 'document' || resourceType === 'api' ? [url] : [],
    ),
  ]);
  const origins = [...new Set(urls.flatMap((url) => (/^https?:/.test(url) ? new URL(url).origin : [])))];
  const local = origins.filter((origin) => isLoopback(splitUrl(origin)?.host ?? ''));
  if (local.length === 0 && origins[0] !== undefined) return `its pages come from ${origins[0]}`;
  for (const origin of local) {
    const { port, protocol } = new URL(origin);
    const listener = await findListener(Number(port) || (protocol === 'https:' ? 443 : 80));
    if (listener) return `${origin} is served by a program that the suite does not start`;
  }
  return null;
}
