import { isUtf8 } from 'node:buffer';
import type { Category } from '../model/diagnosis.js';
import type { ChangedPath, FileSnapshot } from '../workspace/git-trees.js';

/** An agent's change, and the failure that it should fix. */
export interface GuardRequest {
  readonly category: Category;
  /** Which edits to tests are kept (HN-4). `cut`: none. `compared`: code of existing tests. `shown`: new specs, too. `open`: data, too. */
  readonly tests: 'cut' | 'compared' | 'shown' | 'open';
  readonly changes: readonly ChangedPath[];
  readonly before: FileSnapshot;
  readonly after: FileSnapshot;
  readonly suite: SuitePaths;
  /** Playwright's error messages, which name missing snapshots. */
  readonly errors?: readonly string[];
}

/** A file before or after the change. */
interface FileState {
  readonly bytes: Uint8Array;
  /** The text, without a byte order mark; null if the file is binary or not UTF-8. */
  readonly text: string | null;
}

/** A changed path, before and after the change; null where the path does not exist. */
export interface JudgedEdit {
  /** Relative to the workspace root, with forward slashes. */
  readonly path: string;
  /** Its current kind, or the one before it was removed. */
  readonly kind: 'file' | 'link' | 'other';
  readonly before: FileState | null;
  readonly after: FileState | null;
}

export function createFileState(bytes: Uint8Array): FileState {
  const text = isUtf8(bytes) ? new TextDecoder().decode(bytes) : null;
  return { bytes, text: text?.includes('\u0000') ? null : text };
}

export function isSameState(a: FileState | null, b: FileState | null): boolean {
  return a === b || (a !== null && b !== null && Buffer.compare(a.bytes, b.bytes) === 0);
}

/** The files of a run's suite. Paths are relative to the workspace root, with forward slashes. */
export interface SuitePaths {
  /** Spec files that Playwright found. */
  readonly testFiles: readonly string[];
  /** Files of the project that the tests import or name; absent if unknown. */
  readonly loaded?: readonly string[];
  /** Playwright's test directory; empty for the root, null if it is unknown or also contains the app's code. */
  readonly testDir: string | null;
  readonly config: string | null;
  /** Titles of the tests, without their describe blocks. */
  readonly titles: readonly string[];
}
