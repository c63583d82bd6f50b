import { redact } from '../secrets/redactor.js';

/** Prepares a text for the store: masks secrets, since people who read the store may not be those who ran the suite (EV-9). */
export function storedText(text: string): string;
export function storedText(text: string | null): string | null;
export function storedText(text: string | null): string | null {
  // PostgreSQL text cannot contain NUL.
  return text === null ? null : redact(text.replaceAll('\0', ''));
}

/** Serializes a value as JSON for the store, with each string masked separately so that the JSON stays valid. */
export function storedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? redact(part) : part));
}
