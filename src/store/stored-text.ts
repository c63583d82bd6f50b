import type { z } from 'zod';
import { jsonOf } from '../json-of.js';
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

/** Something in the store is not what self-heal writes there. */
export class Damage extends Error {}

/** Returns a row with this shape; its fields that hold JSON are parsed first. Throws `Damage` for any other: a store is input like every file. */
export function checkedRow<T>(shape: z.ZodType<T>, row: object, jsonFields: readonly string[] = []): T {
  const values = Object.entries(row).map(([name, value]: [string, unknown]) => {
    return [name, jsonFields.includes(name) && typeof value === 'string' ? jsonOf(value) : value];
  });
  const parsed = shape.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Damage(`${issue?.path.join('.')}: ${issue?.message}`);
}
