import { isUtf8 } from 'node:buffer';
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
  if (isUtf8(bytes)) return ok(text);
  // What cannot be decoded has become this character; one of the file's own before it is next to never.
  const start = text.indexOf('\uFFFD');
  const hint = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
  const message = `this is not UTF-8${hint}; save the file as UTF-8`;
  return err({ text, diagnostic: { start, end: start + 1, message } });
}
