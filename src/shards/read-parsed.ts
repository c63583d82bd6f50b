import { lstat, readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { err, ok, type Result } from '../result.js';
import { jsonOf } from '../workspace/change.js';

/** More than any shard writes: what is read is held in memory. */
const mostBytes = 256 * 1024 * 1024;

/**
 * Reads a JSON file that may have been in anybody's hands. `moved` is applied to it before it is checked. The error says in words what is
 * wrong, and nothing of what the file holds.
 */
export async function readParsed<T>(
  file: string,
  schema: z.ZodType<T>,
  moved: (value: unknown) => unknown = (value) => value,
): Promise<Result<T, string>> {
  const found = await lstat(file).catch(() => null);
  // A link may lead to any file of this machine.
  if (!found?.isFile()) return err('it is not a file');
  if (found.size > mostBytes) return err(`it has ${found.size} bytes`);
  const value = jsonOf(await readFile(file, 'utf8'));
  if (value === undefined) return err('it is not JSON');
  const parsed = schema.safeParse(moved(value));
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return err(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is not as expected'}`);
}
