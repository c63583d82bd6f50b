import path from 'node:path';
import { isCommandFile } from '../agents/command-files.js';
import type { BlamedCommit, BlamedHunk } from '../core/blame.js';
import { changesPackages } from '../workspace/install.js';
import type { Contents } from '../workspace/change.js';
import { type FileEdit, type FileState, stateOf } from '../workspace/file-state.js';
import type { History } from './history.js';
import { type ChangedFile, type ExactHunk, joinNear, without } from './hunks.js';
import { lastSteps } from './origins.js';
import { relativePath } from '../relative-path.js';

/** A hunk that may be to blame. */
export interface Candidate {
  readonly hunk: ExactHunk;
  readonly file: ChangedFile;
  /**
   * The last commit that touched it, counted from the base; uncommitted changes come last. The rename of a file comes before all
   * changes to its text.
   */
  readonly step: number;
  readonly commit: BlamedCommit | null;
  /** Whether it is in a test file. */
  readonly inTests: boolean;
}

/** Where candidates are found, and where their contents are stored. */
export interface CandidatePlace {
  /** The recorded root, to which file paths are relative. */
  readonly root: string;
  readonly contents: Contents;
  readonly isTest: (file: string) => boolean;
  /** Whether something other than self-heal has written to the file during the run. */
  readonly isWrittenTo: (file: string) => boolean;
}

/** Whether a file is of those that `self-heal init` writes: no test depends on it, and in the first runs it is not committed yet. */
function isSetUp(file: string): boolean {
  return /(?:^|\/)agents\.ya?ml$/.test(file) || isCommandFile(file);
}

/**
 * Returns the hunks of a history in the order in which they are taken out: newest commit first, and within a commit the app before the tests.
 * Changes that would require installing packages are left out, and so are files written since the run began: they broke nothing, and may still
 * be written to (a log).
 */
export async function candidatesOf(history: History, place: CandidatePlace): Promise<readonly Candidate[]> {
  const all: Candidate[] = [];
  for (const { file: compared, versions } of history.files) {
    if (isSetUp(compared.path) || place.isWrittenTo(compared.path)) continue;
    const edits = await editsFor([{ file: compared, hunks: compared.hunks }], place);
    if (edits === null || (await changesPackages(edits, place.contents))) continue;
    const steps = joinNear(compared, lastSteps(compared, versions, history.parents));
    const file = { ...compared, hunks: [...steps.keys()] };
    const inTests = place.isTest(file.path);
    for (const [hunk, step] of steps)
      all.push({ hunk, file, step, commit: history.commits[step] ?? null, inTests });
  }
  return renamesFirst(all).toSorted(
    (a, b) =>
      b.step - a.step ||
      Number(a.inTests) - Number(b.inTests) ||
      compare(a.file.path, b.file.path) ||
      a.hunk.newStart - b.hunk.newStart,
  );
}

/** Moves renames before other changes of the file: the old name has the old text, so undoing a rename undoes all later changes too. */
function renamesFirst(all: readonly Candidate[]): Candidate[] {
  const firsts = new Map<string, number>();
  for (const { file, step } of all)
    for (const one of file.renamed ? [file.path, file.renamed.from] : [])
      firsts.set(one, Math.min(step, firsts.get(one) ?? step));
  return all.map((one) => {
    const first = one.hunk.whole ? firsts.get(one.file.path) : undefined;
    return first === undefined ? one : { ...one, step: first - 0.5 };
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns how far apart two neighbors are: the search cuts between commits first, then between files. */
export function apart(one: Candidate, next: Candidate): number {
  if (one.step !== next.step) return 2;
  return one.file === next.file ? 0 : 1;
}

/** Whether both change the same name, such as a definition and its use. */
export function akin(one: Candidate, other: Candidate): boolean {
  return changesName(one, changedNames([other]));
}

/** Whether it changes one of these names. */
export function changesName(one: Candidate, names: ReadonlySet<string>): boolean {
  return [...changedNames([one])].some((name) => names.has(name));
}

/** Whether one of its lines contains one of these names, changed or not. */
export function mentionsName({ hunk }: Candidate, names: ReadonlySet<string>): boolean {
  return [...namesIn([...hunk.old, ...hunk.now])].some((name) => names.has(name));
}

/** Returns the names of at least three letters that are on only one side of one of these hunks. */
export function changedNames(some: readonly Candidate[]): ReadonlySet<string> {
  const names = some.flatMap(({ hunk }) => {
    const [before, after] = [namesIn(hunk.old), namesIn(hunk.now)];
    return [...before, ...after].filter((name) => before.has(name) !== after.has(name));
  });
  return new Set(names);
}

/** Returns everything in these lines that may be a name in code. */
export function namesIn(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join('\n').match(/[A-Za-z_$][\w$]{2,}/g));
}

/** Returns the edits that take these candidates out of the current tree; null if a file has changed since it was read. */
export async function editsWithout(
  out: readonly Candidate[],
  place: Pick<CandidatePlace, 'root' | 'contents'>,
): Promise<FileEdit[] | null> {
  const files = [...new Set(out.map(({ file }) => file))];
  const hunksOf = (file: ChangedFile) => out.flatMap((one) => (one.file === file ? [one.hunk] : []));
  return editsFor(
    files.map((file) => ({ file, hunks: hunksOf(file) })),
    place,
  );
}

type Taken = readonly { readonly file: ChangedFile; readonly hunks: readonly ExactHunk[] }[];

async function editsFor(
  taken: Taken,
  { root, contents }: Pick<CandidatePlace, 'root' | 'contents'>,
): Promise<FileEdit[] | null> {
  const edits: FileEdit[] = [];
  for (const { file, hunks } of taken) {
    const before = stateOf(root, file.path);
    const kept = file.after === null ? null : await contents.put(Buffer.from(file.after, 'latin1'));
    if (before === 'other' || (before?.hash ?? null) !== kept) return null;
    const text = without(file, new Set(hunks));
    const after: FileState | null =
      text === null
        ? null
        : {
            kind: 'file',
            hash: await contents.put(Buffer.from(text, 'latin1')),
            mode: before?.mode ?? 0o644,
          };
    edits.push({ path: file.path, before, after });
  }
  return edits;
}

/** Converts a hunk for reports and prompts; `cwd` is the project's root. */
export function blamedHunk(
  { hunk, commit, inTests }: Candidate,
  place: { root: string; cwd: string },
): BlamedHunk {
  return {
    file: relativePath(place.cwd, path.join(place.root, hunk.file)),
    line: hunk.newStart,
    old: shown(hunk.old),
    now: shown(hunk.now),
    whole: hunk.whole,
    commit,
    inTests,
  };
}

const LINES_KEPT = 400;
const CHARACTERS_KEPT = 2000;

function shown(lines: readonly string[]): string[] {
  return lines.slice(0, LINES_KEPT).map((line) =>
    Buffer.from(line, 'latin1')
      .toString('utf8')
      .replace(/\r?\n$/, '')
      .slice(0, CHARACTERS_KEPT),
  );
}
