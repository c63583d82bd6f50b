import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../json-of.js';
import { writeFileAtomic } from '../write-file-atomic.js';
import { hashOf } from './file-state.js';
import type { FileEdit } from './file-state.js';

/** What one agent changed: every path with its state before and after. The contents lie in the run's `Contents`. */
export interface Change {
  /** Names it within its run. */
  readonly id: string;
  /** The folder that its paths are relative to, from the project: empty, or `../..` in a package of a repository. */
  readonly root: string;
  readonly edits: readonly FileEdit[];
  /** Folders that were made for it. */
  readonly folders: readonly string[];
}

/** The exact bytes of what changes touch, by their SHA-256. */
export interface Contents {
  put(content: Uint8Array): Promise<string>;
  /** Rejects where they are gone, or are not those that the hash names. */
  get(hash: string): Promise<Buffer>;
}

/** Bytes that a change needs are gone or damaged. */
export class ContentsMissing extends Error {}

const state = z.strictObject({
  kind: z.enum(['file', 'link']),
  hash: z.string().regex(/^[\da-f]{64}$/),
  mode: z.int().min(0).max(0o777),
});

/** A path inside the root, outside of repositories, packages and our own folder. */
export const safePath = z
  .string()
  .min(1)
  .refine((file) => {
    const parts = file.split('/');
    const isNormal = parts.every((part) => part !== '' && part !== '.' && part !== '..');
    return isNormal && !/[\0\\]/.test(file) && !parts.some((part) => forbidden.has(part.toLowerCase()));
  }, 'is not a path of a project file');

const forbidden = new Set(['.git', '.self-heal', 'node_modules']);

/** What one path may hold, or that it is not there. */
export const stateOrNull = state.nullable();

const changeSchema = z.strictObject({
  schemaVersion: z.literal(1),
  id: z.string().regex(/^\d+$/),
  root: z.string().regex(/^(?:\.\.(?:\/\.\.)*)?$/),
  edits: z.array(z.strictObject({ path: safePath, before: stateOrNull, after: stateOrNull })),
  folders: z.array(safePath),
});

/** The contents of the changes of the run whose folder this is, which they are kept apart from: folders of runs are handed on, and these hold secrets as they are. */
export function contentsOf(runDir: string): Contents {
  const folder = path.join(changesFolder(runDir), 'contents');
  return {
    put: async (content) => {
      const hash = hashOf(content);
      const file = path.join(folder, hash);
      if (existsSync(file)) return hash;
      await mkdir(folder, { recursive: true });
      await writeFileAtomic(file, content, { durable: true });
      return hash;
    },
    get: async (hash) => {
      const content = await readFile(path.join(folder, hash)).catch(() => null);
      if (content && hashOf(content) === hash) return content;
      throw new ContentsMissing(`${path.join(folder, hash)} is ${content ? 'damaged' : 'gone'}`);
    },
  };
}

/** Keeps a change of a run. */
export async function keepChange(runDir: string, change: Change): Promise<void> {
  const file = fileOf(runDir, change.id);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFileAtomic(file, `${JSON.stringify({ schemaVersion: 1, ...change })}\n`, { durable: true });
}

/** Reads a kept change; null where it is gone or is not one. */
export async function readChange(runDir: string, id: string): Promise<Change | null> {
  if (!/^\d+$/.test(id)) return null;
  const text = await readFile(fileOf(runDir, id), 'utf8').catch(() => '');
  const parsed = changeSchema.safeParse(jsonOf(text));
  return parsed.success ? parsed.data : null;
}

function fileOf(runDir: string, id: string): string {
  return path.join(changesFolder(runDir), `${id}.json`);
}

/** `.self-heal/changes/<run-id>` for `.self-heal/runs/<run-id>`. */
export function changesFolder(runDir: string): string {
  return path.join(path.dirname(path.dirname(runDir)), 'changes', path.basename(runDir));
}
