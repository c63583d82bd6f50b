import { lstatSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { err, ok, type Result } from '../result.js';
import { jsonOf } from '../json-of.js';

/** More than any shard writes. Files are held in memory. */
const mostBytes = 256 * 1024 * 1024;

/**
 * Reads an untrusted JSON file. `moved` is applied before validation. The error describes what is wrong and quotes nothing from the file.
 * Synchronous, because shards leave thousands of small files and reading each through the thread pool costs several times as
 * much processor time.
 */
export function readParsed<T>(
  file: string,
  schema: z.ZodType<T>,
  moved: (value: unknown) => unknown = (value) => value,
): Result<T, string> {
  const found = lstatSync(file, { throwIfNoEntry: false });
  // A link could point to any file on this machine.
  if (!found?.isFile()) return err('it is not a file');
  if (found.size > mostBytes) return err(`it is too large (${found.size} bytes)`);
  const value = jsonOf(readFileSync(file, 'utf8'));
  if (value === undefined) return err('it is not JSON');
  const parsed = schema.safeParse(moved(value));
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return err(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is not as expected'}`);
}
