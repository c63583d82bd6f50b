import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';

/** What is sent through the queue: compressed, since evidence is long and repeats itself, and since PostgreSQL's JSON takes no NUL. */
export interface Packed {
  /** gzip in base64. */
  readonly packed: string;
}

/** The most that one message may take in the database, in bytes. */
const mostPackedBytes = 16 * 1024 * 1024;
/** The most that one message may unpack to: it may be crafted. */
const mostBytes = 16 * mostPackedBytes;

const shape = z.object({ packed: z.string().max(2 * mostPackedBytes) });

/** Packs a message; null where it is too large. */
export function pack(message: unknown): Packed | null {
  const packed = gzipSync(JSON.stringify(message)).toString('base64');
  return packed.length > mostPackedBytes ? null : { packed };
}

/** Reads a message back; null where it is not one of this shape. */
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
