import path from 'node:path';
import type { BlameBase, BlamedCommit, BlamedHunk } from '../../model/blame.js';
import { specName } from '../../guard/test-paths.js';
import {
  type Candidate,
  MAX_CHANGED_FILES,
  listCandidates,
  listCommitsSince,
  compareFiles,
  type HunkRoots,
  listRevertiblePaths,
  findRecentCommit,
  formatHunks,
  createStepLookup,
} from '../../workspace/candidates.js';
import type { ContentStore } from '../../workspace/change.js';
import { git } from '../../workspace/git.js';
import { compareWithGit, type NoBase } from '../../workspace/git-trees.js';
import type { GreenState } from '../../run/last-green.js';
import { compareWithState } from '../../run/tree-state.js';

/** The changes to the project's files since a state that may be green. */
export interface ChangeHistory {
  readonly base: BlameBase;
  /** In the order in which a search reverts them: newest commit first, then by file. */
  readonly candidates: readonly Candidate[];
  /** The commits since the base, newest first. */
  readonly commits: readonly BlamedCommit[];
  /** True unless the repository is a shallow clone. */
  readonly isComplete: boolean;
}

export interface HistoryRequest {
  /** The root of the working tree, to which file paths are relative. */
  readonly root: string;
  readonly contents: ContentStore;
  /** The base commit that the user named, or null. */
  readonly namedBase: string | null;
  /** The last state in which the test was green here, or null. */
  readonly lastGreen: GreenState | null;
  /** True to begin some commits before HEAD, even if no green state is known there. */
  readonly startsBeforeHead: boolean;
  readonly isTest: (file: string) => boolean;
  /** True for a file to skip: self-heal edited it, or another program wrote to it during the run. */
  readonly isExcluded: (file: string) => boolean;
}

/** CI files, documents with the usual names, and unit tests in common languages. */
const neverLoadedPatterns = [
  /(?:^|\/)(?:\.(?:github|gitlab|circleci|buildkite)\/|(?:\.gitlab-ci|\.travis|azure-pipelines)[\w.-]*\.ya?ml$|Jenkinsfile$)/,
  /(?:^|\/)(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|NOTICE|AUTHORS|CODE_OF_CONDUCT|SECURITY)(?:[\w.-]*\.(?:md|txt|rst|adoc))?$/i,
  /(?:^|\/)__tests__\//,
  /(?:^|\/)(?:test_\w+\.py|\w+_test\.(?:go|py|rb|exs|dart)|\w+_spec\.rb|\w+Tests?\.(?:java|kt|cs|php|swift))$/,
];

/** True if no Playwright suite loads a file, so that reverting it can change the result of a test only by chance. */
function isNeverLoaded(file: string): boolean {
  return specName.test(file) || neverLoadedPatterns.some((pattern) => pattern.test(file));
}

/** Appended to messages about a shallow clone, as CI systems make them. */
export const shallowNote = 'older commits are missing: fetch more history';

/**
 * Reads from git the changes that may have broken a test. Returns the reason if that is impossible, and rejects if git lacks objects (a partial clone
 * without its remote). Omits links, submodules, changes that require installing packages, and files outside a sparse checkout.
 */
export async function readHistory(request: HistoryRequest): Promise<ChangeHistory | string> {
  const { root, namedBase, lastGreen } = request;
  const knownGreen = namedBase === null ? lastGreen : { commit: namedBase, runDir: null };
  const branch = await (knownGreen ? compareWithState(root, knownGreen) : compareWithGit(root, null));
  // Without a known default branch, only uncommitted changes remain.
  const hasNoBranch = 'kind' in branch && branch.kind !== 'unreadable' && namedBase === null;
  const recent = hasNoBranch ? await compareWithGit(root, 'HEAD') : branch;
  if ('kind' in recent) return explainNoBase(recent);
  const head = (await git(root, ['rev-parse', 'HEAD']))?.trim() ?? '';
  const canBeOlder = knownGreen === null && recent.base === head;
  const older = request.startsBeforeHead && canBeOlder ? await findRecentCommit(root) : null;
  const changed = older === null ? recent : await compareWithGit(root, older);
  if ('kind' in changed) return explainNoBase(changed);
  if (path.resolve(changed.root) !== path.resolve(root))
    return 'the project is not a git repository of its own';
  const isComplete = (await git(root, ['rev-parse', '--is-shallow-repository']))?.trim() !== 'true';
  const isExcluded = (file: string) =>
    request.isExcluded(file) || (isNeverLoaded(file) && !request.isTest(file));
  const paths = await listRevertiblePaths(changed, { isExcluded });
  const base = changed.base === head ? `${head.slice(0, 7)} (HEAD)` : changed.base.slice(0, 7);
  if (paths.length === 0) return `no file differs from ${base}${isComplete ? '' : `, and ${shallowNote}`}`;
  if (paths.length > MAX_CHANGED_FILES) return `too many files (${paths.length}) differ from ${base}`;
  const files = await compareFiles(changed, paths);
  const log = await listCommitsSince(root, changed.base);
  const fallback = older !== null ? 'recent' : changed.base === head ? 'head' : 'merge-base';
  const from = namedBase !== null ? 'named' : knownGreen !== null ? 'last-green' : fallback;
  return {
    base: { commit: changed.base, from },
    candidates: await listCandidates(files, { ...request, findStepIndex: await createStepLookup(root, log) }),
    commits: log.map(({ commit }) => commit),
    isComplete,
  };
}

function explainNoBase({ kind, detail }: NoBase): string {
  if (kind === 'unknown-base') return `git does not know the commit ${detail}`;
  if (kind === 'no-merge-base')
    return `git finds no common ancestor of HEAD and ${detail}: fetch more history`;
  if (kind === 'no-git') return 'git is not installed';
  if (kind === 'no-repository') return 'the project is not a git repository';
  return `git cannot read the repository: ${detail}`;
}

/** Formats candidates for reports and prompts. */
export async function formatBlamedHunks(
  candidates: readonly Candidate[],
  history: Pick<ChangeHistory, 'base' | 'commits'>,
  roots: HunkRoots,
): Promise<BlamedHunk[]> {
  const all = candidates.map(({ hunk }) => hunk);
  const hunks = await formatHunks(all, history, roots);
  return hunks.map((hunk, at) => ({ ...hunk, inTests: candidates[at]?.inTests ?? false }));
}
