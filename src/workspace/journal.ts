import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../write-file-atomic.js';
import { jsonOf } from '../json-of.js';
import { safePath, stateOrNull } from './change.js';
import { isInside } from './is-inside.js';
import type { PlannedFile } from './write-files.js';

/**
 * What is about to be done to the project's tree, written and synced before the first byte of it (HN-2): whoever finds a journal brings
 * each file to its goal. It names its project, and is refused anywhere else.
 */
export interface Journal {
  /** The run whose folder holds the contents. */
  readonly runId: string;
  /** The changes in question, by their ids. */
  readonly changes: readonly string[];
  /** What the goal is: an unproven fix out, a proven one back in, an undo finished. */
  readonly purpose: 'take-out' | 'put-back' | 'undo';
  /** Absolute path of the folder that the files are relative to: the project, or a folder around it. */
  readonly root: string;
  readonly files: readonly PlannedFile[];
  readonly folders: readonly string[];
  /** The files say which packages are installed: the package manager's install follows. */
  readonly install: boolean;
}

/** A journal that must not be acted on, with the reason in a sentence. */
export interface RefusedJournal {
  readonly refused: string;
}

const identity = z.strictObject({ path: z.string(), dev: z.number(), ino: z.number() });

const schema = z.strictObject({
  schemaVersion: z.literal(1),
  runId: z.string().regex(/^[\w-]+$/),
  changes: z.array(z.string().regex(/^\d+$/)),
  purpose: z.enum(['take-out', 'put-back', 'undo']),
  project: identity,
  root: identity,
  files: z.array(z.strictObject({ path: safePath, known: z.array(stateOrNull), goal: stateOrNull })),
  folders: z.array(safePath),
  install: z.boolean(),
});

/** Writes the journal of a project; it replaces the one before. */
export async function writeJournal(project: string, journal: Journal): Promise<void> {
  const file = fileOf(project);
  await mkdir(path.dirname(file), { recursive: true });
  const text = { schemaVersion: 1, ...journal, project: identify(project), root: identify(journal.root) };
  await writeFileAtomic(file, `${JSON.stringify(text)}\n`, { durable: true });
}

/** Says that nothing is left to do. */
export async function closeJournal(project: string): Promise<void> {
  await rm(fileOf(project), { force: true });
}

/** The journal that a killed run left, why it cannot be used, or null where there is none. */
export async function readJournal(project: string): Promise<Journal | RefusedJournal | null> {
  const file = fileOf(project);
  if (!existsSync(file)) return null;
  const parsed = schema.safeParse(jsonOf(await readFile(file, 'utf8').catch(() => '')));
  if (!parsed.success) return { refused: 'it is damaged' };
  const { project: ours, root, schemaVersion: _, ...journal } = parsed.data;
  if (!isStill(ours, project)) return { refused: `it belongs to another folder, ${ours.path}` };
  // A project that was moved took with it what it is a part of, or it did not.
  const top = path.resolve(project, path.relative(ours.path, root.path));
  if (!isInside(root.path, ours.path) || isInside(top, homedir()) || !isStill(root, top))
    return { refused: `${top}, which its files are relative to, is not the folder that it was` };
  return { ...journal, root: top };
}

/** Puts a journal aside, so that the next run works; gives where it is now. */
export async function setJournalAside(project: string): Promise<string> {
  const file = fileOf(project);
  const aside = path.join(path.dirname(file), `journal.refused-${process.pid}-${Date.now()}.json`);
  await rename(file, aside);
  return aside;
}

function fileOf(project: string): string {
  return path.join(project, '.self-heal', 'journal.json');
}

function identify(folder: string): z.infer<typeof identity> {
  const { dev, ino } = lstatSync(realpathSync(folder));
  return { path: realpathSync(folder), dev, ino };
}

/** The same folder, moved perhaps; device numbers alone may change when a machine starts again. */
function isStill(was: z.infer<typeof identity>, folder: string): boolean {
  if (!existsSync(folder)) return false;
  const now = identify(folder);
  return now.ino === was.ino && (now.dev === was.dev || now.path === was.path);
}
