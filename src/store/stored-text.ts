import { redact } from '../secrets/redact.js';

/** A text as it is stored: secrets masked, since whoever reads the store need not be who ran the suite (EV-9). */
export function storedText(text: string): string;
export function storedText(text: string | null): string | null;
export function storedText(text: string | null): string | null {
  // PostgreSQL stores no NUL in a text.
  return text === null ? null : redact(text.replaceAll('\0', ''));
}

/** A value as stored JSON, every text in it masked by itself so that the JSON stays whole. */
export function storedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? redact(part) : part));
}
