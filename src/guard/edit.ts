import { isUtf8 } from 'node:buffer';

/** A file as it stands in one state. */
export interface FileState {
  readonly bytes: Uint8Array;
  /** What it says, without a byte order mark; null where it is not UTF-8, or binary. */
  readonly text: string | null;
}

/** One changed path in both states; null where it is not there. */
export interface FileEdit {
  /** Relative to the recorded root, with `/`. */
  readonly path: string;
  /** What it is now, or was before it went. */
  readonly kind: 'file' | 'link' | 'other';
  readonly before: FileState | null;
  readonly after: FileState | null;
  /** What it said before, without what broke the test; null where that is not known, or was not in it. */
  readonly green: string | null;
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

/** Whether it is again what it was before the test broke. */
export function isReverted({ before, after, green }: FileEdit): boolean {
  return green !== null && green !== before?.text && green === (after?.text ?? '');
}
