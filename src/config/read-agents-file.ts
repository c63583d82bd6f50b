import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathInside } from '../workspace/is-inside.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

/** The names to look for in the project's root if no file is named. */
const usualNames = ['agents.yaml', 'agents.yml'] as const;

/** A real one is a few kilobytes; anything larger is some other file. */
const MAX_BYTES = 256 * 1024;

/** The bytes of the file, and where they come from. */
export interface AgentsFileBytes {
  /** Absolute. */
  readonly path: string;
  /** As a person in the project's root would write it. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Finds and reads agents.yaml, or the file asked for. Returns null if no file was asked for and none exists. */
export async function readAgentsFile(
  cwd: string,
  asked?: string,
): Promise<Result<AgentsFileBytes | null, Problem>> {
  for (const candidate of asked === undefined ? usualNames : [asked]) {
    const file = path.resolve(cwd, candidate);
    const name = nameFor(cwd, file);
    try {
      const size = await sizeOf(file);
      if (size === null) return err(unreadable(name, 'is not a file'));
      if (size > MAX_BYTES) return err(unreadable(name, `is larger than ${MAX_BYTES / 1024} KiB`));
      return ok({ path: file, name, bytes: await readFile(file) });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      const isAbsent = code === 'ENOENT' || code === 'ENOTDIR';
      if (!isAbsent) return err(unreadable(name, `cannot be read (${code ?? String(error)})`));
      if (asked !== undefined) return err(unreadable(name, 'does not exist'));
    }
  }
  return ok(null);
}

/** Returns null for folders, pipes and devices. Reading a pipe might never end. */
async function sizeOf(file: string): Promise<number | null> {
  const stats = await stat(file);
  return stats.isFile() ? stats.size : null;
}

function nameFor(cwd: string, file: string): string {
  return pathInside(cwd, file) || file;
}

function unreadable(name: string, what: string): Problem {
  return {
    kind: 'config-invalid',
    message: `${name} ${what}`,
    remedy: 'Name a readable agents.yaml, or omit the flag to use the built-in defaults.',
  };
}
