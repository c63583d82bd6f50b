import { isUtf8 } from 'node:buffer';

/** A file in one of the two states. */
export interface FileState {
  readonly bytes: Uint8Array;
  /** The text, without a byte order mark; null if the file is binary or not UTF-8. */
  readonly text: string | null;
}

/** A changed path in both states; a state is null if the path does not exist in it. */
export interface FileEdit {
  /** Relative to the recorded root, with forward slashes. */
  readonly path: string;
  /** What it is now, or was before it was removed. */
  readonly kind: 'file' | 'link' | 'other';
  readonly before: FileState | null;
  readonly after: FileState | null;
}

/** Reads bytes as a file's state. */
export function fileState(bytes: Uint8Array): FileState {
  const text = isUtf8(bytes) ? new TextDecoder().decode(bytes) : null;
  return { bytes, text: text?.includes('\u0000') ? null : text };
}

/** Whether two states hold the same bytes. */
export function isSameState(a: FileState | null, b: FileState | null): boolean {
  return a === b || (a !== null && b !== null && Buffer.compare(a.bytes, b.bytes) === 0);
}
