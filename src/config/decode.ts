import { err, ok, type Result } from '../result.js';
import type { Diagnostic } from './diagnostic.js';

/** A text that could not be decoded: as much of it as can be shown, and the mistake. */
interface Undecodable {
  readonly text: string;
  readonly diagnostic: Diagnostic;
}

/** Decodes UTF-8, with or without a byte order mark; bytes that are none are a mistake with a position. */
export function decodeUtf8(bytes: Uint8Array): Result<string, Undecodable> {
  const text = new TextDecoder().decode(bytes);
  // U+FFFD may also be in the file itself, so only the bytes tell.
  const start = firstBadOffset(bytes, text);
  if (start === null) return ok(text);
  const hint = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
  return err({
    text,
    diagnostic: { start, end: start + 1, message: `this is not UTF-8${hint}; save the file as UTF-8` },
  });
}

function firstBadOffset(bytes: Uint8Array, text: string): number | null {
  const encoded = new TextEncoder().encode(text);
  const body = hasByteOrderMark(bytes) ? bytes.subarray(3) : bytes;
  const length = Math.max(encoded.length, body.length);
  for (let index = 0; index < length; index++) {
    // `stream` holds back a sequence that the difference cuts in two.
    if (encoded[index] !== body[index])
      return new TextDecoder().decode(body.subarray(0, index), { stream: true }).length;
  }
  return null;
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
