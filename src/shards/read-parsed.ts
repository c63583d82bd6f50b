import { lstatSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { err, ok, type Result } from '../result.js';
import { jsonOf } from '../json-of.js';

/** More than any shard writes: what is read is held in memory. */
const mostBytes = 256 * 1024 * 1024;

/**
 * Reads a JSON file that may have been in anybody's hands. `moved` is applied to it before it is checked. The error says in words what is
 * wrong, and nothing of what the file holds. Synchronous: shards leave thousands of small files, and by the thread pool each costs several times
 * as much processor time.
 */
export function readParsed<T>(
  file: string,
  schema: z.ZodType<T>,
  moved: (value: unknown) => unknown = (value) => value,
): Result<T, string> {
  const found = lstatSync(file, { throwIfNoEntry: false });
  // A link may lead to any file of this machine.
  if (!found?.isFile()) return err('it is not a file');
  if (found.size > mostBytes) return err(`it has ${found.size} bytes`);
  const value = jsonOf(readFileSync(file, 'utf8'));
  if (value === undefined) return err('it is not JSON');
  const parsed = schema.safeParse(moved(value));
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return err(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is not as expected'}`);
}
