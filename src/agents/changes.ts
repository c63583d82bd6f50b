import type { GreenState, GreenLookup } from '../run/last-green.js';
import { compareWithState } from '../run/tree-state.js';
import type { Blame, BlamedCommit, Changes } from '../model/blame.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { rateHunk, type RelatedPosition } from '../diagnose/likelihood.js';
import { isAppFile, searchCode } from './search-code.js';
import { git } from '../workspace/git.js';
import { findBase } from '../workspace/git-trees.js';
import {
  formatHunks,
  listCommitsSince,
  compareFiles,
  isInitFile,
  listRevertiblePaths,
  findRecentCommit,
  createStepLookup,
} from '../workspace/candidates.js';

export interface ChangesRequest {
  /** The project's root; returned paths are relative to it. */
  readonly root: string;
  /** The folder from which its files are read. */
  readonly tree: string;
  readonly lead: DiagnosedFailure;
  /** Returns the newest commit at which a test was green here, or null. */
  readonly findLastGreen: GreenLookup;
  /** True for a file to skip because self-heal edited it. The path is relative to the repository's root. */
  readonly isExcluded: (file: string) => boolean;
  /** Positions in the app that are relevant to the failure although its texts do not name them: `server/reminders.ts:12`. */
  readonly relatedPositions?: readonly RelatedPosition[];
  /** The change that broke the test, as runs have shown: the rest of its commit is listed first. */
  readonly blame?: Blame | null;
  /** `Redactor.clean`, which is applied before long hunks are cut. */
  readonly clean: (text: string) => string;
}

/** The maximum number of hunks to look up, because each needs a git call. */
const MAX_HUNKS = 40;
const MAX_OTHER_COMMITS = 12;
/** The maximum number of files to compare. */
const MAX_FILES = 400;

/**
 * Returns the changes since the failing test was last green, from git. If no green commit is known, returns the changes since the branch began, or else
 * those in the last commits. Hunks that the failure names come first. Null if git has no changes.
 */
export async function listChanges(request: ChangesRequest): Promise<Changes | null> {
  const foundHunks = await findHunks(request);
  if (foundHunks === null) return null;
  const { base, shown, ratings, uncommitted, log } = foundHunks;
  const [blamed] = request.blame?.hunks ?? [];
  const commit = blamed ? blamed.commit : chooseLikelyCommit(shown, ratings);
  const commits = [...(uncommitted.length > 0 ? [{ commit: null, files: uncommitted }] : []), ...log];
  return {
    base,
    commit,
    hunks: shown.filter((hunk) => hunk.commit?.id === commit?.id),
    others: commits.filter((other) => other.commit?.id !== commit?.id).slice(0, MAX_OTHER_COMMITS),
    packages: await listChangedPackages(shown, request.tree),
  };
}

type ShownHunk = Changes['hunks'][number];

/** The changes since a state of the project. */
interface FoundHunks {
  readonly base: Changes['base'];
  readonly shown: readonly ShownHunk[];
  /** The rating of each hunk (`rateHunk`). */
  readonly ratings: readonly number[];
  /** The files with uncommitted changes. */
  readonly uncommitted: readonly string[];
  readonly log: Awaited<ReturnType<typeof listCommitsSince>>;
}

async function findHunks(request: ChangesRequest): Promise<FoundHunks | null> {
  const { root, tree, lead } = request;
  const green = await request.findLastGreen(lead);
  if (green !== null) return listChangesSince(green, 'last-green', request);
  // The agent's copy has no branches.
  const head = (await git(tree, ['rev-parse', 'HEAD']))?.trim() ?? '';
  const base = await findBase(root, null).catch(() => head);
  const branch = typeof base === 'string' ? base : head;
  const newest = await listChangesSince(
    createGreenState(branch),
    branch === head ? 'head' : 'merge-base',
    request,
  );
  if (newest) return newest;
  const older = await findRecentCommit(tree);
  return older === null ? null : listChangesSince(createGreenState(older), 'recent', request);
}

function createGreenState(commit: string): GreenState {
  return { commit, runDir: null };
}

async function listChangesSince(
  state: GreenState,
  from: Changes['base']['from'],
  request: ChangesRequest,
): Promise<FoundHunks | null> {
  const { tree, lead, clean, relatedPositions } = request;
  const comparison = await compareWithState(tree, state);
  if ('kind' in comparison) return null;
  const paths = (await listRevertiblePaths(comparison, request)).filter((file) => !isInitFile(file));
  if (paths.length === 0 || paths.length > MAX_FILES) return null;
  const base = { commit: comparison.base, from };
  const log = await listCommitsSince(comparison.root, comparison.base);
  const findStep = await createStepLookup(comparison.root, log);
  const files = await compareFiles(comparison, paths);
  const rate = rateHunk(lead, relatedPositions);
  const hunks = files
    .flatMap((file) => file.hunks)
    .filter(({ old, now }) => ![...old, ...now].some((line) => line.includes('\0')))
    .map((hunk) => ({ hunk, likely: rate(hunk), step: findStep(hunk.file) }))
    .toSorted((a, b) => b.likely - a.likely || b.step - a.step);
  const appHunks = hunks.filter(({ hunk }) => isAppFile(hunk.file));
  const topHunks = (appHunks.length > 0 ? appHunks : hunks).slice(0, MAX_HUNKS);
  const history = { base, commits: log.map(({ commit }) => commit) };
  const shown = await formatHunks(
    topHunks.map(({ hunk }) => hunk),
    history,
    { root: comparison.root, cwd: tree, clean },
  );
  const uncommitted = [
    ...new Set(hunks.flatMap(({ hunk, step }) => (step >= log.length ? [hunk.file] : []))),
  ];
  return { base, shown, ratings: topHunks.map(({ likely }) => likely), uncommitted, log };
}

/** Returns the commit with the highest-rated hunk; among equals, the one with more such hunks. */
function chooseLikelyCommit(shown: readonly ShownHunk[], ratings: readonly number[]): BlamedCommit | null {
  const scores = new Map<BlamedCommit | null, number>();
  for (const [at, { commit }] of shown.entries()) {
    const earlierScore = scores.get(commit);
    const rating = ratings[at] ?? 0;
    scores.set(commit, earlierScore === undefined ? rating : earlierScore + rating / 100);
  }
  return [...scores].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Returns the packages whose version in a manifest changed, and where the app imports each. */
async function listChangedPackages(hunks: readonly ShownHunk[], tree: string): Promise<string[]> {
  const versionLine = /^\s*"((?:@[\w.-]+\/)?[\w.-]+)": "((?:[~^]|>=)?\d[\w.+-]*)",?$/;
  const readVersions = (lines: readonly string[]) =>
    lines.flatMap((line) => (versionLine.exec(line) ? [versionLine.exec(line)] : []));
  const updates = hunks
    .filter(({ file }) => /(?:^|\/)package\.json$/.test(file))
    .flatMap(({ old, now }) => {
      const before = new Map(readVersions(old).map((match) => [match?.[1], match?.[2]]));
      return readVersions(now).flatMap((match) => {
        const [, name = '', to = ''] = match ?? [];
        const from = before.get(name);
        return name !== 'version' && from !== undefined && from !== to ? [{ name, from, to }] : [];
      });
    });
  return Promise.all(
    updates.slice(0, 4).map(async ({ name, from, to }) => {
      const imports = await searchCode(tree, `(from|require\\(|import\\(?) *['"]${name}(/[^'"]*)?['"]`);
      const places = imports.slice(0, 4).map(({ file, line }) => `${file}:${line}`);
      return `${name} ${from} → ${to}${places.length > 0 ? `, imported at ${places.join(', ')}` : ''}`;
    }),
  );
}
