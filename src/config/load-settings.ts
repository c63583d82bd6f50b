import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Settings, VerifyLevel } from '../core/settings.js';
import { jsonOf } from '../json-of.js';
import { counted } from '../outputs/format.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { type Diagnostic, renderDiagnostics } from './diagnostic.js';
import { type EnvironmentSettings, readEnvironment } from './environment-settings.js';
import { parseAgentsFile } from './parse-agents-file.js';
import { type AgentsFileBytes, readAgentsFile } from './read-agents-file.js';
import { resolveSettings } from './resolve-settings.js';
import type { AgentsFile } from './schema.js';

/** What to load settings from. */
export interface SettingsRequest {
  /** The project's root, which may contain agents.yaml (or agents.yml). */
  readonly cwd: string;
  /** A file named by the user, which must exist. */
  readonly file?: string | undefined;
  /** The source of `${VAR}`, and of `SELF_HEAL_<KEY>`, which takes precedence over the file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--verify`, which takes precedence over everything else. */
  readonly verify?: VerifyLevel | undefined;
  /** `--agents <n>`, which does too. */
  readonly parallel?: number | undefined;
  /** `--store`, which does too. */
  readonly store?: string | undefined;
  /** The project's name, in place of the one in its package.json. */
  readonly packageName?: string;
}

/** The sources of settings, kept separate. The environment takes precedence over the file, and the file over the defaults. */
export interface SettingsLayers {
  readonly environment: EnvironmentSettings;
  readonly file: AgentsFile;
  /** Null if there is no file. */
  readonly source: { readonly path: string; readonly name: string; readonly text: string } | null;
  /** The project's name if neither source sets it. */
  readonly project: string;
}

/** Loads agents.yaml, or the built-in defaults if there is none. All mistakes together are one `config-invalid` Problem (CF-3). */
export async function loadSettings(request: SettingsRequest): Promise<Result<Settings, Problem>> {
  const layers = await loadLayers(request);
  return layers.ok ? ok(settingsOf(layers.value, request)) : layers;
}

/** Merges all sources to the effective settings (CF-4). */
export function settingsOf(
  { environment, file, source, project }: SettingsLayers,
  { verify: level, parallel, store }: Pick<SettingsRequest, 'verify' | 'parallel' | 'store'> = {},
): Settings {
  const flags = {
    ...(level ? { verify: { level } } : {}),
    ...(parallel ? { limits: { parallel } } : {}),
    ...(store?.trim() ? { store } : {}),
  };
  const merged = overlay(overlay(file, environment.settings), flags);
  return resolveSettings({ file: merged, project, filePath: source?.path ?? null });
}

/** Reads every source. The mistakes in all of them together are one `config-invalid` Problem (CF-3). */
export async function loadLayers(request: SettingsRequest): Promise<Result<SettingsLayers, Problem>> {
  const found = await readAgentsFile(request.cwd, request.file);
  if (!found.ok) return found;
  const project = request.packageName ?? (await projectName(request.cwd));
  const read = found.value && readText(found.value, request.env);
  const mistakes = read?.mistakes ?? [];
  const environment = readEnvironment(request.env, mistakes.length > 0 ? null : read?.file);
  if (mistakes.length + environment.mistakes.length > 0) return err(invalid(read, environment.mistakes));
  return ok({ environment, file: read?.file ?? {}, source: read, project });
}

interface FileReading extends Omit<AgentsFileBytes, 'bytes'> {
  readonly text: string;
  readonly file: AgentsFile;
  readonly mistakes: readonly Diagnostic[];
}

function readText({ bytes, ...place }: AgentsFileBytes, env: SettingsRequest['env']): FileReading {
  const text = new TextDecoder().decode(bytes);
  const unreadable = encodingMistake(bytes);
  const parsed = unreadable ? err([unreadable]) : parseAgentsFile(text, env);
  return parsed.ok
    ? { ...place, text, file: parsed.value, mistakes: [] }
    : { ...place, text, file: {}, mistakes: parsed.error };
}

function invalid(read: FileReading | null, fromEnvironment: readonly string[]): Problem {
  const { name = '', mistakes = [], text = '' } = read ?? {};
  const wrong = [
    { from: name, count: mistakes.length, shown: renderDiagnostics({ name, text }, mistakes) },
    { from: 'the environment', count: fromEnvironment.length, shown: fromEnvironment.join('\n\n') },
  ].filter(({ count }) => count > 0);
  return {
    kind: 'config-invalid',
    message: wrong.map(({ from, count }) => `${from} has ${counted(count, 'mistake')}`).join(', '),
    detail: wrong.map(({ shown }) => shown).join('\n\n'),
    remedy: `Correct ${wrong.map(({ from }) => from).join(' and ')}; nothing was run.`,
  };
}

/** Returns the first byte that is not UTF-8, as a mistake with its position in the text as far as it can be decoded; null if there is none. */
export function encodingMistake(bytes: Uint8Array): Diagnostic | null {
  if (isUtf8(bytes)) return null;
  // Invalid bytes are decoded to this character. The file is very unlikely to contain one of its own before them.
  const start = new TextDecoder().decode(bytes).indexOf('\uFFFD');
  const hint = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
  return { start, end: start + 1, message: `this is not UTF-8${hint}; save the file as UTF-8` };
}

/** Merges plain data: mappings are merged recursively, and any other value in `upper` replaces the one in `lower`. */
function overlay<T extends object>(lower: T, upper: Partial<T>): T {
  const joined = Object.entries(upper).flatMap(([key, value]: [string, unknown]) => {
    if (value === undefined) return [];
    const below: unknown = Reflect.get(lower, key);
    return [[key, isMapping(below) && isMapping(value) ? overlay(below, value) : value] as const];
  });
  return { ...lower, ...Object.fromEntries(joined) };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the name in the project's package.json, or the name of its folder. */
async function projectName(cwd: string): Promise<string> {
  return (await packageName(cwd)) ?? (path.basename(path.resolve(cwd)) || 'project');
}

/** Returns null if package.json is missing or broken, which is reported elsewhere. */
async function packageName(cwd: string): Promise<string | null> {
  const text = await readFile(path.join(cwd, 'package.json'), 'utf8').catch(() => '');
  const { name } = Object(jsonOf(text)) as { name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
}
