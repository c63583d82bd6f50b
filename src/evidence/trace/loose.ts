import { z } from 'zod';

// Records of a trace are another program's, of any version: a field that is missing or has another type gets a neutral value.

export const text = z.string().catch('');
export const looseText = z.string().nullable().catch(null);
export const number = z.number().catch(0);
export const numberOrNull = z.number().nullable().catch(null);

/** A record whose fields all have a neutral value; anything else than an object is read as an empty one. */
export function record<S extends z.ZodRawShape>(shape: S) {
  const isRecord = (value: unknown) => typeof value === 'object' && value !== null;
  return z.preprocess((value) => (isRecord(value) ? value : {}), z.object(shape));
}

/** A list; anything else is read as an empty one. */
export function list<S extends z.ZodType>(items: S) {
  return z.array(items).catch([]);
}
