import { z } from 'zod';

// Data that other processes wrote: a field that is missing or has another type gets a neutral value.

export const text = z.string().catch('');
export const textOrNull = z.string().nullable().catch(null);
const number = z.number().catch(0);
const numberOrNull = z.number().nullable().catch(null);
const texts = z.record(z.string(), text).catch({});

export const consoleEntry = z.object({
  time: number,
  type: z.string().catch('log'),
  text,
  location: text,
  stack: textOrNull,
});

export const networkEntry = z.object({
  time: number,
  method: text,
  url: text,
  resourceType: text,
  status: numberOrNull,
  durationMs: numberOrNull,
  failure: textOrNull,
  requestHeaders: texts,
  responseHeaders: texts,
  requestBody: textOrNull,
  responseBody: textOrNull,
});
