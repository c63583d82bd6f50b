import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { type Blob, readBlob } from './blob.js';
import { type Collected, collectedFile, collectedSchema, type Shard } from './collected.js';
import { readParsed } from './read-parsed.js';

/** What one machine left of its shard. */
export type FoundShard = {
  /** Its path relative to the current folder, for messages. */
  readonly name: string;
  readonly shard: Shard;
} & (
  | {
      readonly kind: 'collected';
      /** The run's folder; absolute. */
      readonly folder: string;
      readonly collected: Collected;
    }
  /** A blob report of Playwright. */
  | { readonly kind: 'blob'; readonly file: string; readonly blob: Blob }
);

/** How deep a run folder may be in an artifact: below the folders of the download, the package and `.self-heal/runs`. */
const deepest = 8;

/**
 * Finds what shards left: run folders with a `collected.json`, and Playwright's blob reports. Each given folder may be one of them or contain
 * any number at any depth, as downloaded artifacts do. A folder that contains none is a `Problem`.
 */
export async function findShards(
  folders: readonly string[],
  cwd: string,
): Promise<Result<FoundShard[], Problem>> {
  const shards = new Map<string, FoundShard>();
  for (const folder of folders) {
    const start = path.resolve(cwd, folder);
    const places = await placesIn(start, 0);
    let found = 0;
    for (const place of places) {
      const shard = await shardAt(place, path.relative(cwd, place) || '.');
      if (!shard.ok) return shard;
      if (shard.value === null) continue;
      found += 1;
      // A folder may be given twice: by itself and through a parent folder.
      shards.set(place, shard.value);
    }
    if (found === 0) return err(await nothingIn(folder, start));
  }
  return ok([...shards.values()]);
}

/** Returns the run folders and zip files below a folder, or the folder or file itself if it is one. */
async function placesIn(place: string, depth: number): Promise<string[]> {
  if (depth === 0 && isZip(place)) return [place];
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  if (entries.some((one) => one.isFile() && one.name === collectedFile)) return [place];
  const names = entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  const found: string[] = [];
  for (const entry of names) {
    const inner = path.join(place, entry.name);
    if (entry.isFile() && isZip(entry.name)) found.push(inner);
    // Links (`.self-heal/latest`) are not followed: their targets are found anyway.
    else if (entry.isDirectory() && entry.name !== 'node_modules' && depth < deepest)
      found.push(...(await placesIn(inner, depth + 1)));
  }
  return found;
}

function isZip(name: string): boolean {
  return name.endsWith('.zip');
}

/** Returns null for a zip file of another kind, such as a trace. */
async function shardAt(place: string, name: string): Promise<Result<FoundShard | null, Problem>> {
  if (isZip(place)) {
    const blob = await readBlob(place);
    if (blob === null) return ok(null);
    if (blob === 'damaged') return err(damaged(name, 'it is not a zip file, or it is incomplete'));
    return ok({ kind: 'blob', name, file: place, blob, shard: blob.shard });
  }
  const read = readParsed(path.join(place, collectedFile), collectedSchema);
  if (!read.ok) return err(damaged(path.join(name, collectedFile), read.error));
  return ok({ kind: 'collected', name, folder: place, collected: read.value, shard: read.value.shard });
}

/** The problem that a file of a shard cannot be used. */
export function damaged(name: string, why: string): Problem {
  return {
    kind: 'input-unreadable',
    message: `${name} is not a usable artifact of a shard: ${why}`,
    remedy:
      'Download it again, or remove it and heal the other shards with --allow-missing-shards. It must come from this version of self-heal.',
  };
}

async function nothingIn(folder: string, place: string): Promise<Problem> {
  const isThere = await stat(place).then(
    () => true,
    () => false,
  );
  return {
    kind: 'input-unreadable',
    message: isThere
      ? `${folder} contains neither a collected run nor a Playwright blob report`
      : `${folder} does not exist`,
    remedy:
      'A shard writes one to .self-heal/runs with `self-heal run --shard 1/3 --collect` (upload it with include-hidden-files), or to blob-report with `playwright test --reporter=blob`.',
  };
}
