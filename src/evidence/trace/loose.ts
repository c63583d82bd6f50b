import { z } from 'zod';

// Any version of Playwright may have written a trace, so a field that is missing or has another type gets a neutral value.

export const text = z.string().catch('');
export const textOrNull = z.string().nullable().catch(null);
export const number = z.number().catch(0);
export const numberOrNull = z.number().nullable().catch(null);

/** A record whose fields all have neutral values; reads anything but an object as an empty one. */
export function record<S extends z.ZodRawShape>(shape: S) {
  const isRecord = (value: unknown) => typeof value === 'object' && value !== null;
  return z.preprocess((value) => (isRecord(value) ? value : {}), z.object(shape));
}

/** A list; reads anything else as an empty one. */
export function list<S extends z.ZodType>(items: S) {
  return z.array(items).catch([]);
}
