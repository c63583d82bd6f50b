import type { DiagnosedFailure } from '../model/cause.js';
import { git } from '../workspace/git.js';
import type { Report } from './report.js';
import { findRunDir } from './run-folder.js';
import { readReport, listRunIds } from './find-run.js';
import { compareWithState, readTreeState } from './tree-state.js';

/** The maximum number of runs to search, newest first. */
const MAX_RUNS = 50;

/** A state of the project in which tests were green here: a commit and, if files differed from it, the folder of the run that stored them. */
export interface GreenState {
  readonly commit: string;
  readonly runDir: string | null;
}

/** A run of a state in the history of HEAD. */
interface StoredState extends GreenState {
  readonly ran: ReadonlySet<string>;
  readonly green: ReadonlySet<string>;
}

/**
 * Returns the newest state in which the test of a failure was green, in a run that also had the tests it needs, or null. For a failure of the suite
 * itself, returns the newest state in which the suite ran.
 */
export type GreenLookup = (failed: Pick<DiagnosedFailure, 'failure' | 'needs'>) => Promise<GreenState | null>;

/** Creates the lookup of last green states. Reads the runs once, at the first call. The store does not have them: a green run never opens it (CL-4). */
export function createLastGreenLookup(projectRoot: string): GreenLookup {
  let states: Promise<readonly StoredState[]> | null = null;
  return async ({ failure, needs = [] }) => {
    const runs = await (states ??= readStoredStates(projectRoot));
    const coversTest = ({ ran, green }: StoredState) =>
      failure.scope === 'suite'
        ? green.size > 0
        : green.has(failure.test.id) && needs.every((needed) => ran.has(needed));
    return runs.find(coversTest) ?? null;
  };
}

/** Creates a check whether a test was green here in an earlier run of exactly the files that the project has now. */
export function createGreenStateCheck(projectRoot: string): (failed: DiagnosedFailure) => Promise<boolean> {
  const findGreenState = createLastGreenLookup(projectRoot);
  return async (failed) => {
    const state = failed.failure.scope === 'test' ? await findGreenState(failed) : null;
    const since = state && (await compareWithState(projectRoot, state).catch(() => null));
    if (!since || 'kind' in since) return false;
    const paths = since.changes.map(({ path: file }) => file);
    const [before, after] = [await since.before.readFiles(paths), await since.after.readFiles(paths)];
    const decode = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('latin1');
    return paths.every((file) => decode(before.get(file)) === decode(after.get(file)));
  };
}

/** Returns the states of the runs, newest first. */
async function readStoredStates(projectRoot: string): Promise<readonly StoredState[]> {
  const states: StoredState[] = [];
  const past = new Map<string, boolean>();
  for (const runId of (await listRunIds(projectRoot)).toReversed().slice(0, MAX_RUNS)) {
    const runDir = findRunDir(projectRoot, runId);
    const report = await readReport(runDir);
    const state = report && findEndState(report, runDir);
    if (!state) continue;
    const { commit } = state;
    // Skips commits of another branch, or from before a rebase, which are not in the history of HEAD.
    const isPast =
      past.get(commit) ?? (await git(projectRoot, ['merge-base', '--is-ancestor', commit, 'HEAD'])) !== null;
    past.set(commit, isPast);
    if (!isPast) continue;
    const ran = report.tests.filter(({ verdict }) => verdict !== 'skipped' && verdict !== 'not-run');
    const green = ran.filter(({ verdict }) => verdict === 'passed' || verdict === 'healed');
    states.push({ ...state, ran: collectIds(ran), green: collectIds(green) });
  }
  return states;
}

function collectIds(tests: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(tests.map(({ id }) => id));
}

/** Returns the state at the end of a run: the stored one, or its commit if there were no uncommitted changes; null if unknown. */
function findEndState({ commit, causes }: Report, runDir: string): GreenState | null {
  const treeState = readTreeState(runDir);
  if (treeState) return { commit: treeState.commit, runDir };
  const isChanged = causes.some(({ attempts }) => attempts.some(({ change }) => change !== null));
  return commit === null || isChanged ? null : { commit, runDir: null };
}
