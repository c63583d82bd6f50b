import type { GreenState, LastGreen } from '../run/last-green.js';
import { changesSinceState } from '../run/tree-state.js';
import type { BlamedCommit, Changes } from '../model/blame.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { rateHunk, type NearPlace } from '../diagnose/likelihood.js';
import { isOfApp, searchCode } from './search-code.js';
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
  readonly lastGreen: LastGreen;
  /** Whether self-heal edited a file, so that it is left out. The path is relative to the repository's root. */
  readonly isLeftOut: (file: string) => boolean;
  /** Places in the app that belong to the failure, besides those in its texts: `server/reminders.ts:12`. */
  readonly near?: readonly NearPlace[];
  /** `Redactor.clean`, which is applied before long hunks are cut. */
  readonly clean: (text: string) => string;
}

/** The most hunks that are looked up: each takes a call of git. */
const MAX_HUNKS = 40;
const MAX_OTHERS = 12;
/** The most files that are compared. */
const MAX_FILES = 400;

/**
 * Returns the changes since the failing test was last green, as far as git knows them. If no green commit is known, these are the uncommitted
 * changes, or else those of the last commits. Hunks that the failure names come first. Null if git knows of no change.
 */
export async function changesFor(request: ChangesRequest): Promise<Changes | null> {
  const found = await lookedUp(request);
  if (found === null) return null;
  const { base, shown, likely, open, log } = found;
  const commit = mostLikely(shown, likely);
  const all = [...(open.length > 0 ? [{ commit: null, files: open }] : []), ...log];
  return {
    base,
    commit,
    hunks: shown.filter((hunk) => hunk.commit?.id === commit?.id),
    others: all.filter((other) => other.commit?.id !== commit?.id).slice(0, MAX_OTHERS),
    packages: await changedPackages(shown, request.tree),
  };
}

type ShownHunk = Changes['hunks'][number];

/** The changes since a state of the project. */
interface LookedUp {
  readonly base: Changes['base'];
  readonly shown: readonly ShownHunk[];
  /** How much the failure says of each of these. */
  readonly likely: readonly number[];
  /** The files with uncommitted changes. */
  readonly open: readonly string[];
  readonly log: Awaited<ReturnType<typeof commitsSince>>;
}

async function lookedUp(request: ChangesRequest): Promise<LookedUp | null> {
  const { tree, lead } = request;
  const green = await request.lastGreen(lead);
  const newest = await changesSince(
    green ?? atCommit('HEAD'),
    green === null ? 'head' : 'last-green',
    request,
  );
  if (newest || green !== null) return newest;
  const older = await recent(tree);
  return older === null ? null : changesSince(atCommit(older), 'recent', request);
}

function atCommit(commit: string): GreenState {
  return { commit, runDir: null };
}

async function changesSince(
  state: GreenState,
  from: Changes['base']['from'],
  request: ChangesRequest,
): Promise<LookedUp | null> {
  const { tree, lead, clean, near } = request;
  const since = await changesSinceState(tree, state);
  if ('kind' in since) return null;
  const paths = (await pathsIn(since, request)).filter((file) => !isInitFile(file));
  if (paths.length === 0 || paths.length > MAX_FILES) return null;
  const base = { commit: since.base, from };
  const log = await commitsSince(since.root, since.base);
  const stepOf = await stepsIn(since.root, log);
  const files = await compareFiles(since, paths);
  const likely = rateHunk(lead, near);
  const hunks = files
    .flatMap((file) => file.hunks)
    .filter(({ old, now }) => ![...old, ...now].some((line) => line.includes('\0')))
    .map((hunk) => ({ hunk, likely: likely(hunk), step: stepOf(hunk.file) }))
    .toSorted((a, b) => b.likely - a.likely || b.step - a.step);
  const ofApp = hunks.filter(({ hunk }) => isOfApp(hunk.file));
  const looked = (ofApp.length > 0 ? ofApp : hunks).slice(0, MAX_HUNKS);
  const history = { base, commits: log.map(({ commit }) => commit) };
  const shown = await shownHunks(
    looked.map(({ hunk }) => hunk),
    history,
    { root: since.root, cwd: tree, clean },
  );
  const open = [...new Set(hunks.flatMap(({ hunk, step }) => (step >= log.length ? [hunk.file] : [])))];
  return { base, shown, likely: looked.map((one) => one.likely), open, log };
}

/** Returns the commit with the hunk that the failure names the most; of equals, the one with more such hunks. */
function mostLikely(shown: readonly ShownHunk[], likely: readonly number[]): BlamedCommit | null {
  const scores = new Map<BlamedCommit | null, number>();
  for (const [at, { commit }] of shown.entries()) {
    const known = scores.get(commit);
    const own = likely[at] ?? 0;
    scores.set(commit, known === undefined ? own : known + own / 100);
  }
  return [...scores].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Returns the packages of which a manifest names another version now, and where the app imports each. */
async function changedPackages(hunks: readonly ShownHunk[], tree: string): Promise<string[]> {
  const version = /^\s*"((?:@[\w.-]+\/)?[\w.-]+)": "((?:[~^]|>=)?\d[\w.+-]*)",?$/;
  const read = (lines: readonly string[]) =>
    lines.flatMap((line) => (version.exec(line) ? [version.exec(line)] : []));
  const changed = hunks
    .filter(({ file }) => /(?:^|\/)package\.json$/.test(file))
    .flatMap(({ old, now }) => {
      const before = new Map(read(old).map((match) => [match?.[1], match?.[2]]));
      return read(now).flatMap((match) => {
        const [, name = '', to = ''] = match ?? [];
        const from = before.get(name);
        return name !== 'version' && from !== undefined && from !== to ? [{ name, from, to }] : [];
      });
    });
  return Promise.all(
    changed.slice(0, 4).map(async ({ name, from, to }) => {
      const imports = await searchCode(tree, [
        '-E',
        '-e',
        `(from|require\\(|import\\(?) *['"]${name}(/[^'"]*)?['"]`,
      ]);
      const places = imports.slice(0, 4).map(({ file, line }) => `${file}:${line}`);
      return `${name} ${from} → ${to}${places.length > 0 ? `, imported at ${places.join(', ')}` : ''}`;
    }),
  );
}
