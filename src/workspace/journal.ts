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
 * What is about to be done to the project's tree, written and synced before the first byte changes (HN-2). Whoever finds a journal brings each file
 * to its goal. It names its project, and is refused anywhere else.
 */
export interface Journal {
  /** The run whose changes folder holds the contents. */
  readonly runId: string;
  /** The ids of the changes in question. */
  readonly changes: readonly string[];
  /** What the goal is: to revert an unproven fix, to reapply a proven one, or to finish an undo. */
  readonly purpose: 'take-out' | 'put-back' | 'undo';
  /** Absolute path of the folder that the files are relative to: the project, or a folder that contains it. */
  readonly root: string;
  readonly files: readonly PlannedFile[];
  readonly folders: readonly string[];
  /** Whether the files determine which packages are installed, so that the package manager's install must follow. */
  readonly install: boolean;
}

/** A journal that must not be acted on, with the reason as a phrase. */
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

/** Writes the journal of a project, and replaces the one before. */
export async function writeJournal(project: string, journal: Journal): Promise<void> {
  const file = fileOf(project);
  await mkdir(path.dirname(file), { recursive: true });
  const text = { schemaVersion: 1, ...journal, project: identify(project), root: identify(journal.root) };
  await writeFileAtomic(file, `${JSON.stringify(text)}\n`, { durable: true });
}

/** Deletes the journal, since nothing is left to do. */
export async function closeJournal(project: string): Promise<void> {
  await rm(fileOf(project), { force: true });
}

/** Reads the journal that a killed run left; returns why it cannot be used, or null if there is none. */
export async function readJournal(project: string): Promise<Journal | RefusedJournal | null> {
  const file = fileOf(project);
  if (!existsSync(file)) return null;
  const parsed = schema.safeParse(jsonOf(await readFile(file, 'utf8').catch(() => '')));
  if (!parsed.success) return { refused: 'it is damaged' };
  const { project: ours, root, schemaVersion: _, ...journal } = parsed.data;
  if (!isStill(ours, project)) return { refused: `it belongs to another folder, ${ours.path}` };
  // If the project was moved, the folder that contains it may or may not have moved with it.
  const top = path.resolve(project, path.relative(ours.path, root.path));
  if (!isInside(root.path, ours.path) || isInside(top, homedir()) || !isStill(root, top))
    return { refused: `${top}, the root of its files, is no longer the same folder` };
  return { ...journal, root: top };
}

/** Sets a journal aside, so that the next run works; returns its new path. */
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

/** Whether this is the same folder, possibly moved; a device number alone may change when a machine restarts. */
function isStill(was: z.infer<typeof identity>, folder: string): boolean {
  if (!existsSync(folder)) return false;
  const now = identify(folder);
  return now.ino === was.ino && (now.dev === was.dev || now.path === was.path);
}
