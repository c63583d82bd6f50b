import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { isProgramsOwn } from '../agents/command-files.js';
import type { Contents } from './change.js';
import type { ProjectCopy } from './copy.js';
import { contentOf, type FileEdit, type FileState, isSame, kindOf, stateOf } from './file-state.js';
import { isUntouched } from './mirror.js';
import { isInside } from './is-inside.js';
import { type Entry, ignoredAmong, isWritable, listAll, listProject } from './project-files.js';

/** What an agent did to its copy. */
export interface Collected {
  readonly edits: readonly FileEdit[];
  /** Paths that it wrote although git ignores them; they cannot be part of a fix. */
  readonly ignored: readonly string[];
  /** Why none of its work can be a fix, or null. */
  readonly refused: string | null;
}

/** Returns the source files of the project itself, other than our own, that changed since its copy was made, relative to the root, in order. */
export async function changedSince(
  root: string,
  copy: ProjectCopy,
  ours: ReadonlySet<string>,
): Promise<string[]> {
  const sources = (entries: readonly Entry[]) =>
    new Map(entries.filter((one) => one.area === 'source' && isFile(one)).map((one) => [one.path, one]));
  const [before, now] = [sources(copy.entries), sources(await listProject(root))];
  const differs = (file: string) => {
    const [old, young] = [before.get(file), now.get(file)];
    if (old && young && isUntouched(old.stat, young.stat)) return false;
    const [then, today] = [stateOf(copy.base, file), stateOf(root, file)];
    return then === 'other' || today === 'other' || !isSame(then, today);
  };
  const all = new Set([...before.keys(), ...now.keys()]);
  return [...all].filter((file) => !ours.has(file) && differs(file)).toSorted();
}

const MAX_FILES = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Compares a copy with what it was made from, and stores the contents of files that differ. */
export async function collect(root: string, copy: ProjectCopy, contents: Contents): Promise<Collected> {
  const there = new Map((await listAll(copy.tree)).filter(isFile).map((one) => [one.path, one]));
  const base = new Map((await listAll(copy.base)).filter(isFile).map((one) => [one.path, one]));
  const known = new Map(copy.entries.map((one) => [one.path, one]));
  const isTouched = (file: string) => {
    const now = there.get(file);
    const copied = copy.copied.get(file);
    return !(now && copied && isUntouched(copied.copy, now.stat));
  };
  const old = [...base.keys()].filter(isTouched);
  const added = [...there.keys()].filter(
    (file) => !base.has(file) && isTouched(file) && !isProgramsOwn(file),
  );
  const others = added.filter(isWritable);
  const unknown = others.filter((file) => !known.has(file));
  // Agent programs leave folders that ignore themselves, and only the copy has their rules.
  const matches = await Promise.all([root, copy.tree].map((at) => ignoredAmong(at, unknown)));
  const hidden = new Set(matches.flatMap((paths) => [...paths]));
  const ignored = others.filter((file) => hidden.has(file) || known.has(file));
  const refused = whyNotRevertible([...old, ...added], known);
  if (refused !== null) return { edits: [], ignored, refused };
  const paths = [...old, ...unknown.filter((file) => !hidden.has(file))];
  const bytes = paths.reduce((sum, file) => sum + (there.get(file)?.stat.size ?? 0), 0);
  if (paths.length > MAX_FILES || bytes > MAX_BYTES) {
    const size = `${paths.length} files, ${Math.ceil(bytes / 1024 / 1024)} MB`;
    return { edits: [], ignored, refused: `it changed ${size}, which is too much for a fix` };
  }
  const edits: FileEdit[] = [];
  for (const file of paths.toSorted()) {
    const before = await keep(copy.base, base.get(file), { contents, like: null });
    const after = await keep(copy.tree, there.get(file), { contents, like: before });
    if (after?.kind === 'link' && leadsOut(copy.tree, file))
      return { edits: [], ignored, refused: `it created a link that points outside the project: ${file}` };
    if (!isSame(before, after)) edits.push({ path: file, before, after });
  }
  return { edits, ignored, refused: null };
}

/** Part of a fix alone would not be one, so all of it is refused. */
function whyNotRevertible(touched: readonly string[], known: ReadonlyMap<string, Entry>): string | null {
  const odd = touched.find((file) => file.includes('\\'));
  if (odd !== undefined) return `it changed a file with a backslash in its name: ${odd}`;
  const folder = touched.find((file) => {
    const { kind, area } = known.get(file) ?? {};
    return kind === 'folder' && area === 'source';
  });
  return folder === undefined ? null : `it replaced a folder with a file: ${folder}`;
}

function isFile({ kind }: Entry): boolean {
  return kind === 'file' || kind === 'link';
}

interface Keeping {
  contents: Contents;
  /** The state whose permissions are kept, except for whether the file is executable. */
  like: FileState | null;
}

async function keep(
  folder: string,
  entry: Entry | undefined,
  { contents, like }: Keeping,
): Promise<FileState | null> {
  const kind = entry && kindOf(entry.stat);
  if (!kind) return null;
  const hash = await contents.put(contentOf(path.join(folder, entry.path), kind));
  const mode = entry.stat.mode & 0o777;
  if (like?.kind !== kind || kind === 'link') return { kind, hash, mode };
  const execute = (like.mode & 0o444) >> 2;
  return { kind, hash, mode: mode & 0o100 ? like.mode | execute : like.mode & ~0o111 };
}

function leadsOut(tree: string, file: string): boolean {
  const link = readlinkSync(path.join(tree, file));
  return path.isAbsolute(link) || !isInside(tree, path.resolve(path.dirname(path.join(tree, file)), link));
}
