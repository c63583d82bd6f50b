import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';

/** A message in the queue. It is compressed because evidence is long and repetitive, and because PostgreSQL's JSON cannot contain NUL. */
export interface Packed {
  /** Base64 of gzip. */
  readonly packed: string;
}

/** The maximum size of a message in the database, in bytes. */
const mostPackedBytes = 16 * 1024 * 1024;
/** The maximum unpacked size of a message, which may be crafted. */
const mostBytes = 16 * mostPackedBytes;

const shape = z.object({ packed: z.string().max(2 * mostPackedBytes) });

/** Packs a message; returns null if it is too large. */
export function pack(message: unknown): Packed | null {
  const packed = gzipSync(JSON.stringify(message)).toString('base64');
  return packed.length > mostPackedBytes ? null : { packed };
}

/** Unpacks and validates a message; returns null if it is invalid. */
export function unpack<T>(row: unknown, schema: z.ZodType<T>): T | null {
  const { data } = shape.safeParse(row);
  if (!data) return null;
  try {
    const text = gunzipSync(Buffer.from(data.packed, 'base64'), { maxOutputLength: mostBytes });
    return schema.safeParse(JSON.parse(text.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
