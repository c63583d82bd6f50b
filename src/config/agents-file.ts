import path from 'node:path';
import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import type { z } from 'zod';
import { acpPrograms, builtIn, builtInRunners, isBuiltInRunner } from '../model/built-in.js';
import { rules } from '../diagnose/rules.js';
import { pathInside } from '../paths.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { findClosest } from './closest.js';
import type { Diagnostic } from './diagnostic.js';
import { readYaml } from './read-yaml.js';
import { type AgentsFile, agentsFileSchema, listAllowedKeys, defaultAgents } from './schema.js';

/** The file names to look for in the project's root, unless the user names one. */
const defaultFileNames = ['agents.yaml', 'agents.yml'] as const;

/** A real agents.yaml has a few kilobytes. */
const MAX_BYTES = 256 * 1024;

export interface AgentsFileText {
  /** Absolute. */
  readonly path: string;
  /** The path from the project's root, for messages. */
  readonly name: string;
  readonly text: string;
  /** Points to the first byte that is not UTF-8; null if there is none. */
  readonly encodingMistake: Diagnostic | null;
}

/** Finds and reads agents.yaml, or the file that the user names. Returns null if no file is named and none exists. */
export async function readAgentsFile(
  cwd: string,
  fileName?: string,
): Promise<Result<AgentsFileText | null, Problem>> {
  for (const candidate of fileName === undefined ? defaultFileNames : [fileName]) {
    const file = path.resolve(cwd, candidate);
    const name = pathInside(cwd, file) || file;
    try {
      const info = await stat(file);
      // Reading a pipe might never end.
      if (!info.isFile()) return err(createUnusableProblem(name, 'is not a file'));
      if (info.size > MAX_BYTES)
        return err(createUnusableProblem(name, `is larger than ${MAX_BYTES / 1024} KiB`));
      const bytes = await readFile(file);
      const text = new TextDecoder().decode(bytes);
      return ok({ path: file, name, text, encodingMistake: findEncodingMistake(bytes, text) });
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      const isAbsent = code === 'ENOENT' || code === 'ENOTDIR';
      if (!isAbsent) return err(createUnusableProblem(name, `cannot be read (${code ?? String(error)})`));
      if (fileName !== undefined) return err(createUnusableProblem(name, 'does not exist'));
    }
  }
  return ok(null);
}

function createUnusableProblem(name: string, reason: string): Problem {
  return {
    kind: 'config-invalid',
    message: `${name} ${reason}`,
    remedy: 'Name a readable agents.yaml, or omit the flag to use the built-in defaults.',
  };
}

function findEncodingMistake(bytes: Uint8Array, text: string): Diagnostic | null {
  if (isUtf8(bytes)) return null;
  // The decoder replaces invalid bytes with this character.
  const start = text.indexOf('\uFFFD');
  const guess = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
  return { start, end: start + 1, message: `this is not UTF-8${guess}; save the file as UTF-8` };
}

/** Parses agents.yaml and reports all mistakes at once (CF-3). If the text is not YAML, it reports only the YAML errors. */
export function parseAgentsFile(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Result<AgentsFile, readonly Diagnostic[]> {
  const { data, mistakes, locate } = readYaml(text, env);
  if (data === undefined) return err(mistakes);
  // An empty file, or one with only comments, sets nothing, so the defaults apply.
  const settings = data ?? {};
  const located = findMistakes(settings).map(({ path: dataPath, part = 'value', message }) => ({
    ...locate(dataPath, part),
    message,
  }));
  // A value that the YAML parser rejected is reported once.
  const furtherMistakes = located.filter(
    ({ start, end }) => !mistakes.some((cause) => cause.start >= start && cause.start < end),
  );
  const all = [...mistakes, ...furtherMistakes];
  return all.length === 0 ? ok(settings) : err(all);
}

/** A mistake in settings, located by its path in the data. */
interface Mistake {
  readonly path: readonly PropertyKey[];
  /** Default: `value`. */
  readonly part?: 'key' | 'value';
  readonly message: string;
}

/** Returns all mistakes in settings in the shape of agents.yaml (CF-3). The settings may use these `runners` and those that they define. */
export function findMistakes(data: unknown, runners: readonly string[] = []): Mistake[] {
  const { error } = agentsFileSchema.safeParse(data);
  return [
    ...(error?.issues ?? []).flatMap((issue) => listShapeMistakes(issue, data)),
    ...listReferenceMistakes(data, runners),
  ];
}

/** Returns `; did you mean "x"?`, or the list of choices if no name is close, or an empty text if there are no choices. */
function createHint(closest: string | null, choices: readonly string[], introduction: string): string {
  if (closest !== null) return `; did you mean "${closest}"?`;
  return choices.length === 0 ? '' : `; ${introduction} ${choices.join(', ')}`;
}

type Issue = z.core.$ZodIssue;

function listShapeMistakes(issue: Issue, data: unknown): Mistake[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => createUnknownKeyMistake(path, key));
  const name = formatSettingName(path);
  const part = issue.code === 'invalid_key' ? 'key' : 'value';
  const value = readValue(data, path);
  if (path.length > 0 && value === undefined)
    return [{ path, part, message: `${formatSettingName(path.slice(0, -1))} needs a ${name}` }];
  if (path.length > 0 && value === null)
    return [{ path, part, message: `${name} is empty; give it a value, or delete the line` }];
  return [{ path, part, message: `${name} ${describeIssue(issue, value)}` }];
}

function createUnknownKeyMistake(path: readonly PropertyKey[], key: string): Mistake {
  const allowed = listAllowedKeys(path);
  const noun = path.length === 1 && path[0] === 'routes' ? 'class' : 'key';
  const message = `unknown ${noun} "${key}"${createHint(findClosest(key, allowed), allowed, 'allowed here:')}`;
  return { path: [...path, key], part: 'key', message };
}

function describeIssue(issue: Issue, value: unknown): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'invalid_type' && (issue.expected === 'object' || issue.expected === 'record'))
    return 'must be a mapping of keys to values';
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return issue.message;
  return issue.message + createHint(findClosest(value, issue.values.map(String)), [], '');
}

/** Names a setting in a message: by its key, or as an entry of its list. */
function formatSettingName(path: readonly PropertyKey[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'the file';
  return typeof last === 'number' ? `an entry of "${String(path.at(-2))}"` : `"${String(last)}"`;
}

const ruleIds = rules.map(({ id }) => id);

/**
 * Checks that the agents, runners and rules that the settings refer to exist. The data has not been validated, so that one call reports wrong
 * shapes and unknown names together.
 */
function listReferenceMistakes(data: unknown, knownRunners: readonly string[]): Mistake[] {
  const mistakes: Mistake[] = [];
  const checkName = (
    path: Path,
    complaint: string,
    allowedNames: readonly string[],
    choices = allowedNames,
  ) => {
    const name = readValue(data, path);
    if (typeof name !== 'string' || name.trim() === '' || allowedNames.includes(name)) return;
    const hint = createHint(findClosest(name, allowedNames), choices, 'the known ones are');
    mistakes.push({ path, message: `${complaint}${hint}` });
  };
  const ownAgents = listKeys(readValue(data, ['agents']));
  const ownRunners = listKeys(readValue(data, ['runners']));
  const agents = [...new Set([...defaultAgents, ...ownAgents])];
  const runners = [
    ...new Set([builtIn, ...builtInRunners, ...Object.keys(acpPrograms), ...knownRunners, ...ownRunners]),
  ];
  for (const name of ownRunners)
    mistakes.push(...listRunnerMistakes(name, readValue(data, ['runners', name])));
  checkName(['runner'], 'unknown runner', runners);
  for (const name of ownAgents) checkName(['agents', name, 'runner'], 'unknown runner', runners);
  for (const category of listKeys(readValue(data, ['routes'])))
    for (const path of listItems(data, ['routes', category])) checkName(path, 'unknown agent', agents);
  for (const path of listItems(data, ['classify', 'off']))
    checkName(path, 'no built-in rule has this id', ruleIds, []);
  const ids = new Set<unknown>();
  for (const path of listItems(data, ['classify', 'rules']).map((item) => [...item, 'id'])) {
    const id = readValue(data, path);
    if (typeof id !== 'string') continue;
    if (ids.has(id)) mistakes.push({ path, message: `another rule already has the id "${id}"` });
    ids.add(id);
  }
  return mistakes;
}

/** Checks that a runner is a known program or has one command, and that its other keys apply to that kind of runner. */
function listRunnerMistakes(name: string, runner: unknown): Mistake[] {
  const path = ['runners', name];
  const keys = listKeys(runner);
  const hasKey = (key: string) => keys.includes(key);
  if (name === builtIn || (isBuiltInRunner(name) && ['command', 'acp', 'prompt'].some(hasKey)))
    return [{ path, part: 'key', message: `"${name}" is the name of a built-in runner; choose another` }];
  const isKnown = isBuiltInRunner(name) || Object.hasOwn(acpPrograms, name);
  const isIncomplete =
    typeof runner === 'object' && runner !== null && !isKnown && !hasKey('command') && !hasKey('acp');
  const createMistake = (key: string, message: string): Mistake[] =>
    hasKey(key) ? [{ path: [...path, key], part: 'key', message: `"${key}" ${message}` }] : [];
  return [
    ...(isIncomplete
      ? [{ path: [...path, 'command'], message: `"${name}" needs a "command", or "acp"` }]
      : []),
    ...(hasKey('command') && hasKey('acp')
      ? createMistake('acp', 'and "command" exclude each other; set one of them')
      : []),
    ...(hasKey('command') || !isKnown
      ? createMistake('args', `is for known programs; put it into "${hasKey('acp') ? 'acp' : 'command'}"`)
      : []),
    ...(hasKey('command')
      ? createMistake('env', 'is for other runners; a "command" gets your whole environment')
      : []),
    ...(hasKey('command') || name === 'claude' || name === 'codex'
      ? createMistake('allow', 'is for programs that speak the Agent Client Protocol')
      : []),
  ];
}

type Path = readonly PropertyKey[];

function readValue(data: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    data,
  );
}

function listKeys(value: unknown): string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function listItems(data: unknown, path: Path): Path[] {
  const value = readValue(data, path);
  return Array.isArray(value) ? value.map((_, index) => [...path, index]) : [];
}
