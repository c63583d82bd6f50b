import { lstatSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Blame } from '../../model/blame.js';
import { type DiagnosedFailure, canBlameRuleOutMachine } from '../../model/cause.js';
import type { BlameCauses, BlameSearches } from '../../heal/hooks.js';
import type { TestError } from '../../model/failure.js';
import type { RelatedPosition } from '../../diagnose/likelihood.js';
import { normalize } from '../../diagnose/normalize.js';
import { readGitError } from '../../workspace/git.js';
import { pathInside } from '../../paths.js';
import type { GreenLookup } from '../../run/last-green.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import type { Change, ContentStore } from '../../workspace/change.js';
import { readFileState } from '../../workspace/file-state.js';
import { withChange } from '../../workspace/with-change.js';
import type { Workspace } from '../../workspace/workspace.js';
import { type Candidate, createRevertEdits } from '../../workspace/candidates.js';
import { formatBlamedHunks, type ChangeHistory, shallowNote, readHistory } from './history.js';
import { Rounds, CauseSearch, type TestOutcome } from './search.js';

/** The parts of a run that the search for breaking changes needs. */
export interface BlameParts {
  readonly cwd: string;
  readonly workspace: Pick<Workspace, 'root' | 'apply' | 'revert' | 'listEditedFiles'>;
  readonly contents: ContentStore;
  /** Runs `verify.prepare`; returns null if it succeeded or is not set. */
  readonly prepare: (signal: AbortSignal) => Promise<string | null>;
  readonly rerun: (request: {
    readonly ids: readonly string[] | null;
    readonly causeId: string | null;
    readonly signal: AbortSignal;
  }) => Promise<SuiteRun>;
  /** Returns the signature of a failure of the suite itself; null if there is none. */
  readonly computeSuiteSignature: (run: SuiteRun) => Promise<string | null>;
  readonly storeChange: (change: Change) => Promise<void>;
  readonly warn: (message: string) => void;
  /** Aborts when the whole run is interrupted (Ctrl-C). */
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** The total time for all searches of the run. */
  readonly timeMs: number;
  /** When the run began, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The base commit that the user named, or null. */
  readonly namedBase: string | null;
  readonly findLastGreen: GreenLookup;
  /** Absolute paths of the reports to read (`--from`), because downloaded files are not changes to the project. */
  readonly reportPaths: readonly string[];
  /** Finds positions in the app that matter to a failure, although its error messages do not name them. */
  readonly findRelatedPositions: (lead: DiagnosedFailure) => Promise<readonly RelatedPosition[]>;
  /** True if a file, by its path relative to `workspace.root`, belongs to the tests. */
  readonly isTest: (file: string) => boolean;
  /**
   * Reports the change that broke a cause's test, or a sentence that explains why none was found. With a null id, the sentence applies to all causes and
   * is reported once.
   */
  readonly report: (causeId: string | null, answer: Blame | string) => void;
}

/** Creates the function that starts a search for the breaking change of each cause in a run. All searches share one time limit. */
export function createSearchStarter(parts: BlameParts): BlameCauses {
  const spent = { ms: 0, changes: 0 };
  const wasWritten = createWrittenFileCheck(parts);
  const reported = new Set<string>();
  return async (causes) => {
    const readChanges = createHistoryReader(parts, wasWritten);
    const searches: CauseSearch[] = [];
    for (const { id, lead, environment } of causes) {
      if ((environment !== null && !canBlameRuleOutMachine({ lead })) || parts.signal.aborted) continue;
      const recent = await readChanges(lead);
      const readOlderHistory = () =>
        findOlderHistory(recent, () => readChanges(lead, { startsBeforeHead: true }));
      const hasCandidates = typeof recent !== 'string' && recent.candidates.length > 0;
      const history = hasCandidates ? recent : ((await readOlderHistory()) ?? recent);
      if (typeof history !== 'string' && history.candidates.length > 0)
        searches.push(
          new CauseSearch(id, lead, {
            history,
            readOlderHistory: async () => (history === recent ? readOlderHistory() : null),
            relatedPositions: await parts.findRelatedPositions(lead),
          }),
        );
      else {
        const reason = `did not look for a change to blame: ${typeof history === 'string' ? history : describeNoChange(history)}`;
        const subject = typeof history === 'string' ? null : id;
        if (subject !== null || !reported.has(reason)) parts.report(subject, reason);
        reported.add(reason);
      }
    }
    for (const search of searches) await search.advance();
    return new Searches(parts, searches, spent);
  };
}

class Searches implements BlameSearches {
  readonly #parts: BlameParts;
  readonly #searches: readonly CauseSearch[];
  readonly #rounds: Rounds;
  /** The time used by all searches of the run, and the number of reverted changes. */
  readonly #spent: { ms: number; changes: number };
  /** The last reported result of each search. */
  readonly #reported = new Map<string, { readonly key: string; readonly blame: Blame | null }>();
  /** The ids that re-run the fastest green test of the first run, since any test shows whether the suite starts. Null before that run. */
  #fastestTest: readonly string[] | null = null;

  constructor(parts: BlameParts, searches: readonly CauseSearch[], spent: { ms: number; changes: number }) {
    [this.#parts, this.#searches, this.#spent] = [parts, searches, spent];
    this.#rounds = new Rounds(searches);
  }

  needsRun(causeId: string): boolean {
    return this.#searches.some((search) => search.causeId === causeId && search.nextHunks !== null);
  }

  async next(isWanted: (causeId: string) => boolean = () => true): Promise<boolean> {
    const { signal, now, timeMs } = this.#parts;
    const wanted = this.#searches.filter(({ causeId }) => isWanted(causeId));
    const round = this.#rounds.next(wanted);
    if (!round) return false;
    const startedAt = now();
    const remainingMs = timeMs - this.#spent.ms;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, remainingMs))]);
    const outcomes =
      remainingMs > 0 && !signal.aborted
        ? await this.#runReverted(round.reverted, round.searches, deadline)
        : null;
    this.#spent.ms += now() - startedAt;
    if (outcomes === 'edited') for (const search of round.searches) await search.endSearch('edit');
    else if (outcomes)
      for (const [search, outcome] of outcomes) await search.recordRun(round.reverted, outcome);
    else
      for (const search of this.#searches)
        if (search.nextHunks) await search.endSearch(signal.aborted ? 'interrupt' : 'time');
    for (const search of outcomes ? round.searches : wanted)
      if (!search.nextHunks) await this.#report(search);
    return true;
  }

  async findBlame(causeId: string): Promise<Blame | null> {
    const search = this.#searches.find((candidate) => candidate.causeId === causeId);
    return search?.culprits ? this.#report(search) : null;
  }

  haveDifferentCauses(causeId: string, otherId: string): boolean {
    const [search, other] = [causeId, otherId].map((id) =>
      this.#searches.find((candidate) => candidate.causeId === id),
    );
    return search !== undefined && other !== undefined && search.hasDifferentCauseFrom(other);
  }

  /** Reports the culprits of a search, or why there are none, unless it has reported that before. */
  async #report(search: CauseSearch): Promise<Blame | null> {
    const { causeId, culprits } = search;
    const numbers = culprits?.set.map((candidate) => search.history.candidates.indexOf(candidate));
    const key = `${numbers?.toSorted().join()} ${culprits?.isMinimal}`;
    const before = this.#reported.get(causeId);
    if (before?.key === key) return before.blame;
    const blame = culprits && (await this.#createBlame(search, culprits));
    const reason = culprits ? editNote : explainNoResult(search);
    this.#parts.report(causeId, blame ?? `found no change to blame: ${reason}`);
    this.#reported.set(causeId, { key, blame });
    return blame;
  }

  async #createBlame(
    search: CauseSearch,
    { set, isMinimal }: NonNullable<CauseSearch['culprits']>,
  ): Promise<Blame | null> {
    const { cwd, workspace, storeChange } = this.#parts;
    const { history, stats, endedBy } = search;
    const change = await this.#createChange(set);
    if (change === null) return null;
    await storeChange(change);
    const likeliestFirst = set.toSorted((a, b) => search.rank(b) - search.rank(a));
    return {
      base: history.base,
      hunks: await formatBlamedHunks(likeliestFirst, history, { root: workspace.root, cwd }),
      isMinimal,
      endedBy: isMinimal ? null : endedBy,
      outOf: history.candidates.length,
      runs: stats.runs,
      unresolved: stats.unresolved,
      durationMs: this.#spent.ms,
      change: change.id,
    };
  }

  /**
   * Runs tests with hunks reverted in the project's own tree, under a journal that restores the tree after Ctrl-C or a kill (HN-2). Returns null if
   * aborted, and `edited` if somebody edited one of the changed files during the run, because the tests may have seen either content.
   */
  async #runReverted(
    reverted: ReadonlySet<Candidate>,
    searches: readonly CauseSearch[],
    signal: AbortSignal,
  ): Promise<Map<CauseSearch, TestOutcome> | 'edited' | null> {
    const { prepare, rerun } = this.#parts;
    const [only, ...others] = searches;
    const isSuiteFailure = only?.lead.failure.scope === 'suite';
    const ids = isSuiteFailure
      ? this.#fastestTest
      : [...new Set(searches.flatMap(({ lead }) => lead.rerunIds))];
    const causeId = others.length === 0 ? (only?.causeId ?? null) : null;
    const change = await this.#createChange([...reverted]);
    const result =
      change &&
      (await withChange(this.#parts, change, async () => {
        const before = this.#readStates(searches);
        const run = (await prepare(signal)) === null ? await rerun({ ids, causeId, signal }) : null;
        const isEdited = !isDeepStrictEqual(this.#readStates(searches), before);
        return { run, isEdited };
      }));
    if (signal.aborted) return null;
    if (result?.value.isEdited) return 'edited';
    const run = result?.value.run ?? null;
    this.#fastestTest ??= run && findFastestTest(run);
    const outcomes = new Map<CauseSearch, TestOutcome>();
    for (const search of searches)
      outcomes.set(search, run ? await this.#determineOutcome(search.lead, run) : 'unresolved');
    return outcomes;
  }

  /** Reads the states of all files with candidates, to which the suite itself never writes. */
  #readStates(searches: readonly CauseSearch[]): ReadonlyMap<string, unknown> {
    const files = searches.flatMap(({ history }) => history.candidates.map(({ file }) => file.path));
    const { root } = this.#parts.workspace;
    return new Map([...new Set(files)].map((file) => [file, readFileState(root, file)]));
  }

  /** The outcome is unresolved if the suite fails for another reason, such as an incomplete build. */
  async #determineOutcome({ failure, signature }: DiagnosedFailure, run: SuiteRun): Promise<TestOutcome> {
    if (failure.scope === 'suite') {
      if (run.suiteFailure === null) return run.tests.length > 0 ? 'green' : 'unresolved';
      return (await this.#parts.computeSuiteSignature(run)) === signature ? 'red' : 'unresolved';
    }
    const { id } = failure.test;
    const result = run.tests.find(({ test }) => test.id === id);
    if (result?.outcome === 'expected' || result?.outcome === 'flaky') return 'green';
    if (result?.outcome !== 'unexpected') return 'unresolved';
    const failureNow = run.failures.find(({ test }) => test.id === id);
    return !failureNow || getFirstErrorLine(failureNow.errors) === getFirstErrorLine(failure.errors)
      ? 'red'
      : 'other';
  }

  /** Creates the change that reverts these candidates; null if somebody has changed their files. */
  async #createChange(reverted: readonly Candidate[]): Promise<Change | null> {
    const { workspace, contents } = this.#parts;
    const edits = await createRevertEdits(reverted, { root: workspace.root, contents });
    if (edits === null) return null;
    this.#spent.changes += 1;
    // Agents' changes never have such ids.
    return { id: `9${String(this.#spent.changes).padStart(8, '0')}`, edits, folders: [] };
  }
}

function findFastestTest({ tests, rerunIds }: SuiteRun): readonly string[] | null {
  const green = tests.filter(({ outcome }) => outcome === 'expected');
  const [first] = green.toSorted((a, b) => a.durationMs - b.durationMs);
  return first ? (rerunIds[first.test.id] ?? [first.test.id]) : null;
}

function getFirstErrorLine([error]: readonly TestError[]): string {
  return normalize(error?.message ?? '').split('\n')[0] ?? '';
}

const editNote = 'somebody changed files during the search';

function explainNoResult({ history, endedBy, stats }: CauseSearch): string {
  if (endedBy === 'interrupt') return 'interrupted';
  if (endedBy === 'edit') return editNote;
  if (endedBy !== null) return 'no result within the time limit (blame.time)';
  const { base, candidates, isComplete } = history;
  const changes = candidates.length === 1 ? 'the 1 change' : `all ${candidates.length} changes`;
  const state = `with ${changes} since ${base.commit.slice(0, 7)} reverted`;
  if (!stats.wasRed) return `its test does not run ${state}`;
  const red = `it also fails ${state}`;
  return isComplete
    ? `${red}: the cause is older, or outside of the repository`
    : `${red}, and ${shallowNote}`;
}

/**
 * Creates a predicate for files that other programs have written since the run began. A file that is unmodified at its first check counts as unmodified
 * from then on, because only searches and fixes write to it later.
 */
function createWrittenFileCheck({ workspace, startedAt }: BlameParts): (file: string) => boolean {
  const unmodified = new Set<string>();
  return (file) => {
    const info = lstatSync(path.join(workspace.root, file), { throwIfNoEntry: false });
    if (!info || Math.floor(info.mtimeMs) <= startedAt) unmodified.add(file);
    return !unmodified.has(file);
  };
}

/** Creates a function that reads the changes once per base. Each round of a run creates a new one, because fixes change the files. */
function createHistoryReader(
  parts: BlameParts,
  isWrittenTo: (file: string) => boolean,
): (lead: DiagnosedFailure, how?: { readonly startsBeforeHead: boolean }) => Promise<ChangeHistory | string> {
  const { workspace, namedBase, contents, isTest } = parts;
  // Files edited by this run's fixes did not break the tests.
  const edited = workspace.listEditedFiles();
  const reportPaths = parts.reportPaths.flatMap((file) => pathInside(workspace.root, file) || []);
  const isReport = (file: string) =>
    reportPaths.some((report) => file === report || file.startsWith(`${report}/`));
  const isExcluded = (file: string) => edited.has(file) || isReport(file) || isWrittenTo(file);
  const histories = new Map<string, Promise<ChangeHistory | string>>();
  return async (lead, { startsBeforeHead } = { startsBeforeHead: false }) => {
    const lastGreen = namedBase === null ? await parts.findLastGreen(lead) : null;
    const key = `${lastGreen?.commit} ${lastGreen?.runDir} ${startsBeforeHead}`;
    const request = {
      root: workspace.root,
      contents,
      namedBase,
      lastGreen,
      startsBeforeHead,
      isTest,
      isExcluded,
    };
    const history =
      histories.get(key) ??
      readHistory(request).catch((error: unknown) => `git cannot read the changes: ${readGitError(error)}`);
    histories.set(key, history);
    return history;
  };
}

/** Returns the history of the last commits if no green state is known and no uncommitted change is the cause; otherwise null. */
async function findOlderHistory(
  history: ChangeHistory | string,
  readOlderHistory: () => Promise<ChangeHistory | string>,
): Promise<ChangeHistory | null> {
  if (typeof history !== 'string' && history.base.from !== 'head') return null;
  const older = await readOlderHistory();
  const hasOlder = typeof older !== 'string' && older.base.from === 'recent' && older.candidates.length > 0;
  return hasOlder ? older : null;
}

function describeNoChange({ base }: ChangeHistory): string {
  return `no change since ${base.commit.slice(0, 7)} can be the cause`;
}
