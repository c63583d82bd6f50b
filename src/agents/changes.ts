import type { Changes } from '../model/blame.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { likelihood } from '../diagnose/likelihood.js';
import { type GitChanges, gitChanges } from '../workspace/git-trees.js';
import {
  shownHunks,
  commitsSince,
  compareFiles,
  isInitFile,
  pathsIn,
  recent,
  stepsIn,
} from '../workspace/candidates.js';

/** Whose changes are told, and how. */
export interface ChangesRequest {
  /** The project's root, to which paths become relative. */
  readonly root: string;
  /** Where its files are read. */
  readonly tree: string;
  readonly lead: DiagnosedFailure;
  /** Returns the newest commit at which a test was seen green here, or null. */
  readonly lastGreen: (testId: string) => Promise<string | null>;
  /** Whether self-heal edited a file, by its path from the repository's root. */
  readonly isLeftOut: (file: string) => boolean;
  /** `Redactor.clean`: it is applied before long hunks are cut. */
  readonly clean: (text: string) => string;
}

/** How many hunks are told of, and how many files are compared to find them. */
const most = { hunks: 12, files: 400 };

/**
 * Returns what changed since the failing test was last green; if that is not known, what is not committed, or else what the last commits changed;
 * those hunks first that the failure names. Asks only git. Null if it cannot tell, or knows of no change.
 */
export async function changesFor(request: ChangesRequest): Promise<Changes | null> {
  const { tree, lead } = request;
  const green = lead.failure.scope === 'test' ? await request.lastGreen(lead.failure.test.id) : null;
  const near = await changesSince(tree, green ?? 'HEAD', request);
  if (near || green !== null) return near && asChanges(near, green === null ? 'head' : 'last-green', request);
  const older = await recent(tree);
  const far = older === null ? null : await changesSince(tree, older, request);
  return far && asChanges(far, 'recent', request);
}

interface Found {
  readonly since: GitChanges;
  readonly paths: readonly string[];
}

async function changesSince(root: string, ref: string, request: ChangesRequest): Promise<Found | null> {
  const since = await gitChanges(root, ref);
  if ('what' in since) return null;
  const paths = (await pathsIn(since, request)).filter((file) => !isInitFile(file));
  return paths.length === 0 || paths.length > most.files ? null : { since, paths };
}

async function asChanges(
  { since, paths }: Found,
  from: Changes['base']['from'],
  { tree, lead, clean }: ChangesRequest,
): Promise<Changes> {
  const base = { commit: since.base, from };
  const log = await commitsSince(since.root, since.base);
  const stepOf = await stepsIn(since.root, log);
  const files = await compareFiles(since, paths);
  const likely = likelihood(lead);
  const hunks = files
    .flatMap((file) => file.hunks)
    .filter(({ old, now }) => ![...old, ...now].some((line) => line.includes('\0')))
    .map((hunk) => ({ hunk, likely: likely(hunk), step: stepOf(hunk.file) }))
    .toSorted((a, b) => b.likely - a.likely || b.step - a.step);
  const first = hunks.slice(0, most.hunks).map(({ hunk }) => hunk);
  const history = { base, commits: log.map(({ commit }) => commit) };
  const told = await shownHunks(first, history, { root: since.root, cwd: tree, clean });
  return { base, hunks: told, more: hunks.length - first.length };
}
