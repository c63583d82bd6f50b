import type { Changes } from '../model/blame.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { likelihood } from '../diagnose/likelihood.js';
import { gitChanges } from '../workspace/git-trees.js';
import {
  shownHunks,
  commitsSince,
  compareFiles,
  isInitFile,
  pathsIn,
  recent,
  stepsIn,
} from '../workspace/candidates.js';

export interface ChangesRequest {
  /** The project's root, to which paths become relative. */
  readonly root: string;
  /** Where its files are read. */
  readonly tree: string;
  readonly lead: DiagnosedFailure;
  /** Returns the newest commit at which a test was green here, or null. */
  readonly lastGreen: (testId: string) => Promise<string | null>;
  /** Whether self-heal edited a file, so that it is left out. The path is relative to the repository's root. */
  readonly isLeftOut: (file: string) => boolean;
  /** `Redactor.clean`, which is applied before long hunks are cut. */
  readonly clean: (text: string) => string;
}

const MAX_HUNKS = 12;
/** The most files that are compared. */
const MAX_FILES = 400;

/**
 * Returns the changes since the failing test was last green, as far as git knows them. If no green commit is known, these are the uncommitted
 * changes, or else those of the last commits. Hunks that the failure names come first. Null if git knows of no change.
 */
export async function changesFor(request: ChangesRequest): Promise<Changes | null> {
  const { tree, lead } = request;
  const green = lead.failure.scope === 'test' ? await request.lastGreen(lead.failure.test.id) : null;
  const newest = await changesSince(green ?? 'HEAD', green === null ? 'head' : 'last-green', request);
  if (newest || green !== null) return newest;
  const older = await recent(tree);
  return older === null ? null : changesSince(older, 'recent', request);
}

async function changesSince(
  ref: string,
  from: Changes['base']['from'],
  request: ChangesRequest,
): Promise<Changes | null> {
  const { tree, lead, clean } = request;
  const since = await gitChanges(tree, ref);
  if ('kind' in since) return null;
  const paths = (await pathsIn(since, request)).filter((file) => !isInitFile(file));
  if (paths.length === 0 || paths.length > MAX_FILES) return null;
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
  const first = hunks.slice(0, MAX_HUNKS).map(({ hunk }) => hunk);
  const history = { base, commits: log.map(({ commit }) => commit) };
  const rendered = await shownHunks(first, history, { root: since.root, cwd: tree, clean });
  return { base, hunks: rendered, more: hunks.length - first.length };
}
