import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readObjects } from '../git-trees.js';
import { gitDiff } from '../git.js';
import { type ChangedFile, compareFile, compareRenamed } from './hunks.js';
import type { Version } from './origins.js';
import type { Step } from './steps.js';

/** A changed file with its versions since the base. */
export interface FileHistory {
  readonly file: ChangedFile;
  readonly versions: readonly Version[];
}

/** Which files to read. */
export interface FilesRequest {
  readonly base: string;
  readonly paths: readonly string[];
  /** The old contents, by path. */
  readonly before: ReadonlyMap<string, Uint8Array>;
  readonly steps: readonly Step[];
}

/** Reads each file as it was at the base, after each step, and as it is on disk. */
export async function readFiles(
  root: string,
  { base, before, paths, steps }: FilesRequest,
): Promise<FileHistory[]> {
  const known = new Set(paths);
  const ids = steps.flatMap(({ blobs }) =>
    [...blobs].flatMap(([file, id]) => (id && known.has(file) ? [id] : [])),
  );
  const blobs = await readObjects(root, [...new Set(ids)]);
  const renames = await renamesSince(root, base);
  return paths.flatMap((file) => {
    const now = textNow(path.join(root, file));
    const like = (bytes: Uint8Array | undefined) => (bytes ? withEndsOf(now, textOf(bytes)) : null);
    const versionsOf = (one: string) =>
      steps.flatMap(({ blobs: after }, step) => {
        const id = after.get(one);
        return id === undefined ? [] : [{ step, text: id === null ? null : like(blobs.get(id)) }];
      });
    const own = versionsOf(file);
    const old = renames.get(file);
    const text = old !== undefined && known.has(old) ? like(before.get(old)) : null;
    if (old !== undefined && text !== null && now !== null) {
      // Its changes under the old name are part of its history too.
      const under = versionsOf(old).filter((one) => one.text !== null);
      const step = own[0]?.step ?? steps.length;
      const renamed = compareRenamed(file, { before: text, after: now, from: old, step });
      return [{ file: renamed, versions: upToNow([...under, ...own], renamed, steps) }];
    }
    const compared = compareFile(file, like(before.get(file)), now);
    if (compared.before === compared.after) return [];
    return [{ file: compared, versions: upToNow(own, compared, steps) }];
  });
}

/** Returns the old path of each renamed file, as git detects renames by similarity. */
async function renamesSince(root: string, base: string): Promise<ReadonlyMap<string, string>> {
  const how = ['--find-renames', '--diff-filter=R', '--name-status', '--no-ext-diff', '-z'];
  const fields = String(await gitDiff(root, [...how, base, '--'])).split('\0');
  return new Map(fields.flatMap((old, at) => (at % 3 === 1 ? [[fields[at + 1] ?? '', old] as const] : [])));
}

/** Adds the uncommitted state as the last version, if it differs from HEAD. A step that does not change the file has it as its first parent does. */
function upToNow(
  committed: readonly Version[],
  { before, after }: ChangedFile,
  steps: readonly Step[],
): Version[] {
  const texts = new Map(committed.map(({ step, text }) => [step, text]));
  let step = steps.length - 1;
  while (step >= 0 && !texts.has(step)) step = steps[step]?.parents[0] ?? -1;
  const atHead = step < 0 ? before : texts.get(step);
  return atHead === after ? [...committed] : [...committed, { step: steps.length, text: after }];
}

function textNow(place: string): string | null {
  try {
    return textOf(readFileSync(place));
  } catch {
    return null;
  }
}

/** Decodes as one character per byte, so that no byte is lost. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Git may store other line ends than it checks out. */
function withEndsOf(now: string | null, text: string): string {
  return now?.includes('\r\n') && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text;
}
