import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { pathInside } from '../paths.js';
import { mistakesIn } from './check-agents-file.js';
import type { Diagnostic } from './diagnostic.js';
import { readYaml } from './read-yaml.js';
import type { AgentsFile } from './schema.js';

/** The names to look for in the project's root if no file is named. */
const usualNames = ['agents.yaml', 'agents.yml'] as const;

/** A real one is a few kilobytes; anything larger is some other file. */
const MAX_BYTES = 256 * 1024;

/** The text of the file, and where it comes from. */
export interface AgentsFileText {
  /** Absolute. */
  readonly path: string;
  /** As a person in the project's root would write it. */
  readonly name: string;
  readonly text: string;
  /** Set if the file is not UTF-8; the text is then only good to show where. */
  readonly unreadable: Diagnostic | null;
}

/** Finds and reads agents.yaml, or the file asked for. Returns null if no file was asked for and none exists. */
export async function readAgentsFile(
  cwd: string,
  asked?: string,
): Promise<Result<AgentsFileText | null, Problem>> {
  for (const candidate of asked === undefined ? usualNames : [asked]) {
    const file = path.resolve(cwd, candidate);
    const name = pathInside(cwd, file) || file;
    try {
      const found = await stat(file);
      // Reading a pipe might never end.
      if (!found.isFile()) return err(unusable(name, 'is not a file'));
      if (found.size > MAX_BYTES) return err(unusable(name, `is larger than ${MAX_BYTES / 1024} KiB`));
      const bytes = await readFile(file);
      const text = new TextDecoder().decode(bytes);
      return ok({ path: file, name, text, unreadable: encodingMistake(bytes, text) });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      const isAbsent = code === 'ENOENT' || code === 'ENOTDIR';
      if (!isAbsent) return err(unusable(name, `cannot be read (${code ?? String(error)})`));
      if (asked !== undefined) return err(unusable(name, 'does not exist'));
    }
  }
  return ok(null);
}

function unusable(name: string, what: string): Problem {
  return {
    kind: 'config-invalid',
    message: `${name} ${what}`,
    remedy: 'Name a readable agents.yaml, or omit the flag to use the built-in defaults.',
  };
}

function encodingMistake(bytes: Uint8Array, text: string): Diagnostic | null {
  if (isUtf8(bytes)) return null;
  // Invalid bytes are decoded to this character. The file is very unlikely to contain one of its own before them.
  const start = text.indexOf('\uFFFD');
  const hint = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
  return { start, end: start + 1, message: `this is not UTF-8${hint}; save the file as UTF-8` };
}

/** Parses an agents.yaml and reports all its mistakes at once (CF-3); of a text that is not YAML, only why it is not. */
export function parseAgentsFile(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Result<AgentsFile, readonly Diagnostic[]> {
  const { data, mistakes, locate } = readYaml(text, env);
  if (data === undefined) return err(mistakes);
  // An empty file, or one with only comments, sets nothing, so the defaults apply.
  const settings = data ?? {};
  const found = mistakesIn(settings).map(({ path: at, part = 'value', message }) => ({
    ...locate(at, part),
    message,
  }));
  // Mistakes about a value that could not be read are only consequences.
  const own = found.filter((one) => !mistakes.some(({ start }) => start >= one.start && start < one.end));
  return mistakes.length + own.length === 0 ? ok(settings) : err([...mistakes, ...own]);
}
