import { isUtf8 } from 'node:buffer';
import type { Category } from '../model/diagnosis.js';
import type { ChangedPath, FileSnapshot } from '../workspace/git-trees.js';

/** What an agent changed, and what it was asked to heal. */
export interface GuardRequest {
  readonly category: Category;
  /** Whether what belongs to the tests is cut, or compared with what it did before (HN-4); `shown` compares new specs, too, and `open` cuts no data. */
  readonly tests: 'cut' | 'compared' | 'shown' | 'open';
  readonly changes: readonly ChangedPath[];
  readonly before: FileSnapshot;
  readonly after: FileSnapshot;
  readonly suite: SuitePlaces;
  /** Playwright's error messages, which name the snapshots that it missed. */
  readonly errors?: readonly string[];
}

/** A file in one of the two states. */
interface FileState {
  readonly bytes: Uint8Array;
  /** The text, without a byte order mark; null if the file is binary or not UTF-8. */
  readonly text: string | null;
}

/** A changed path in both states; a state is null if the path does not exist in it. */
export interface JudgedEdit {
  /** Relative to the recorded root, with forward slashes. */
  readonly path: string;
  /** What it is now, or was before it was removed. */
  readonly kind: 'file' | 'link' | 'other';
  readonly before: FileState | null;
  readonly after: FileState | null;
}

export function fileState(bytes: Uint8Array): FileState {
  const text = isUtf8(bytes) ? new TextDecoder().decode(bytes) : null;
  return { bytes, text: text?.includes('\u0000') ? null : text };
}

export function isSameState(a: FileState | null, b: FileState | null): boolean {
  return a === b || (a !== null && b !== null && Buffer.compare(a.bytes, b.bytes) === 0);
}

/** What a run knows about its suite. Paths are relative to the recorded root, with forward slashes. */
export interface SuitePlaces {
  /** Spec files that Playwright found. */
  readonly testFiles: readonly string[];
  /** Files of the project that the tests import or name; absent if they were not looked for. */
  readonly loaded?: readonly string[];
  /** Playwright's test directory; empty for the root, null if it is unknown or holds the app's code, too. */
  readonly testDir: string | null;
  readonly config: string | null;
  /** Titles of the tests, without their describe blocks. */
  readonly titles: readonly string[];
}
