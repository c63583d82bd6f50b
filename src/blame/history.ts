import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BlameBase, BlamedCommit } from '../core/blame.js';
import { gitChanges, readObjects } from '../git-trees.js';
import { git, gitBytes, gitSays } from '../git.js';
import { isWritable } from '../workspace/project-files.js';
import { type ChangedFile, compareFile } from './hunks.js';
import type { Version } from './origins.js';

/** What happened to the project's files since a state that may be green. */
export interface History {
  readonly base: BlameBase;
  /** Since then, each after its parents; what is not committed is the step after the last. */
  readonly commits: readonly BlamedCommit[];
  /** Of each step its parents among the steps, the first one first; -1 stands for the base, and for all that is older. */
  readonly parents: readonly (readonly number[])[];
  /** Regular files alone: links and submodules are left out. */
  readonly files: readonly { readonly file: ChangedFile; readonly versions: readonly Version[] }[];
}

/** From where to look; both may be left out. */
export interface HistoryRequest {
  /** A commit that a person named. */
  readonly named?: string | null;
  /** A commit below HEAD at which the test was green here. */
  readonly lastGreen?: string | null;
  /** Files that are left out, from the root. */
  readonly without?: ReadonlySet<string>;
}

/** Beyond so many files nobody looks for one change: a base that is too far away. */
const MAX_FILES = 2000;

/** Reads it from git; a text says why it cannot be, and rejects where git has lost what it needs (a partial clone without its remote). `root` is the folder that the recorded files are relative to. */
export async function readHistory(
  root: string,
  { named = null, lastGreen = null, without = new Set() }: HistoryRequest,
): Promise<History | string> {
  const wanted = named ?? lastGreen;
  const branch = await gitChanges(root, wanted);
  // No default branch is known here: then what is not committed is all that there is.
  const changed = 'what' in branch && named === null ? await gitChanges(root, 'HEAD') : branch;
  if ('what' in changed) return whyNot(changed.what, changed.detail);
  if (path.resolve(changed.root) !== path.resolve(root)) return 'the project is no git repository of its own';
  const head = (await git(root, ['rev-parse', 'HEAD']))?.trim() ?? '';
  const from = named !== null ? 'named' : wanted !== null ? 'last-green' : 'merge-base';
  const base: BlameBase = {
    commit: changed.base,
    from: changed.base === head && from === 'merge-base' ? 'head' : from,
  };
  const paths = changed.changes.filter(
    (one) => one.kind === 'file' && isWritable(one.path) && !without.has(one.path),
  );
  const since = changed.base === head ? `${head.slice(0, 7)} (HEAD)` : changed.base.slice(0, 7);
  if (paths.length === 0) return `no file differs from ${since}${await unlessWhole(root)}`;
  if (paths.length > MAX_FILES) return `${paths.length} files differ from ${since}, which are too many`;
  const steps = await stepsOf(root, changed.base);
  const files = await readFiles(root, {
    before: await changed.before.read(paths.map((one) => one.path)),
    paths: paths.map((one) => one.path),
    steps,
  });
  const parents = [...steps.map((step) => step.parents), [steps.length - 1]];
  return { base, commits: steps.map(({ commit }) => commit), parents, files };
}

/** Said of a repository that has the newest commits alone, as CI systems fetch it. */
async function unlessWhole(root: string): Promise<string> {
  const answer = await git(root, ['rev-parse', '--is-shallow-repository']);
  return answer?.trim() === 'true' ? ', and older commits are not here: fetch more history' : '';
}

function whyNot(what: string, detail: string): string {
  if (what === 'unknown-base') return `git knows no commit ${detail}`;
  if (what === 'no-merge-base')
    return `git finds no commit that HEAD and ${detail} share: fetch more history`;
  if (what === 'no-git') return 'git is not installed';
  const said = gitSays(detail);
  return said.startsWith('not a git repository')
    ? 'the project is no git repository'
    : `git does not read the repository: ${said}`;
}

/** One commit, with the blob that each file had after it; null where the file went. */
interface Step {
  readonly commit: BlamedCommit;
  /** As in `History`. */
  readonly parents: readonly number[];
  /** Of the files that are not as in the first parent. */
  readonly blobs: ReadonlyMap<string, string | null>;
}

/** All commits, those that came by a merge too: what CI systems check out of a pull request is a merge. */
async function stepsOf(root: string, base: string): Promise<Step[]> {
  const format = '--format=%x01%H%x02%P%x02%an%x02%aI%x02%s';
  const order = ['--topo-order', '--reverse', '--diff-merges=first-parent'];
  const how = [...order, '--raw', '--no-abbrev', '--no-renames', '-z', '--no-ext-diff', format];
  const text = await gitBytes(root, ['log', ...how, `${base}..HEAD`]);
  const known = new Map<string, number>();
  return String(text)
    .split('\u0001')
    .slice(1)
    .map((one, at) => {
      const step = stepOf(one, known);
      known.set(step.commit.id, at);
      return step;
    });
}

/** `id STX parents STX author STX date STX subject NUL`, then `:mode mode blob blob status NUL path NUL` for each file. */
function stepOf(text: string, known: ReadonlyMap<string, number>): Step {
  const [head = '', ...fields] = text.split('\0');
  const [headLine = '', firstRaw = ''] = head.split('\n');
  const [id = '', above = '', author = '', date = '', subject = ''] = headLine.split('\u0002');
  const raw = [firstRaw, ...fields].map((one) => one.trim()).filter((one) => one !== '');
  const blobs = new Map<string, string | null>();
  for (const [at, one] of raw.entries()) {
    const [, blob, status] = /^:\d{6} \d{6} [\da-f]+ ([\da-f]+) ([A-Z])/.exec(one) ?? [];
    const file = raw[at + 1];
    if (blob && file !== undefined) blobs.set(file, status === 'D' ? null : blob);
  }
  const parents = above.split(' ').map((one) => known.get(one) ?? -1);
  return { commit: { id, author, date, subject }, parents, blobs };
}

interface Reading {
  readonly before: ReadonlyMap<string, Uint8Array>;
  readonly paths: readonly string[];
  readonly steps: readonly Step[];
}

async function readFiles(root: string, { before, paths, steps }: Reading): Promise<History['files']> {
  const known = new Set(paths);
  const ids = steps.flatMap(({ blobs }) =>
    [...blobs].flatMap(([file, id]) => (id && known.has(file) ? [id] : [])),
  );
  const blobs = await readObjects(root, [...new Set(ids)]);
  return paths.flatMap((file) => {
    const now = textNow(path.join(root, file));
    const like = (bytes: Uint8Array | undefined) => (bytes ? withEndsOf(now, textOf(bytes)) : null);
    const compared = compareFile(file, like(before.get(file)), now);
    if (compared.before === compared.after) return [];
    const committed = steps.flatMap(({ blobs: after }, step) => {
      const id = after.get(file);
      return id === undefined ? [] : [{ step, text: id === null ? null : like(blobs.get(id)) }];
    });
    const open =
      headText(committed, steps, compared.before) === now ? [] : [{ step: steps.length, text: now }];
    return [{ file: compared, versions: [...committed, ...open] }];
  });
}

/** A file as HEAD has it: what no step says is as in the step's first parent. */
function headText(
  versions: readonly Version[],
  steps: readonly Step[],
  before: string | null,
): string | null {
  const texts = new Map(versions.map(({ step, text }) => [step, text]));
  let step = steps.length - 1;
  while (step >= 0 && !texts.has(step)) step = steps[step]?.parents[0] ?? -1;
  return texts.get(step) ?? (step < 0 ? before : null);
}

function textNow(place: string): string | null {
  try {
    return textOf(readFileSync(place));
  } catch {
    return null;
  }
}

/** One character a byte, so that no byte is lost. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Git may keep other line ends than it checks out. */
function withEndsOf(now: string | null, text: string): string {
  return now?.includes('\r\n') && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text;
}
