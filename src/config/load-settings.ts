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

/** What the settings of a run depend on. */
export interface SettingsRequest {
  /** The project's root, in which agents.yaml (or agents.yml) is looked for. */
  readonly cwd: string;
  /** A file that somebody named; it must be there. */
  readonly file?: string | undefined;
  /** Where `${VAR}` is taken from, and `SELF_HEAL_<KEY>`, which goes before the file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--verify`, which goes before everything else. */
  readonly verify?: VerifyLevel | undefined;
  /** `--agents <n>`, likewise. */
  readonly parallel?: number | undefined;
  /** `--store`, likewise. */
  readonly store?: string | undefined;
  /** What to call the project instead of the name in its package.json. */
  readonly packageName?: string;
}

/** All that settings are made of, each source by itself; the environment goes before the file, and both before the defaults. */
export interface SettingsLayers {
  readonly environment: EnvironmentSettings;
  readonly file: AgentsFile;
  /** Null where there is no file. */
  readonly source: { readonly path: string; readonly name: string; readonly text: string } | null;
  /** What the project is called where neither says. */
  readonly project: string;
}

/** Loads agents.yaml, or the built-in defaults where there is none; its mistakes are one `config-invalid` Problem (CF-3). */
export async function loadSettings(request: SettingsRequest): Promise<Result<Settings, Problem>> {
  const layers = await loadLayers(request);
  return layers.ok ? ok(settingsOf(layers.value, request)) : layers;
}

/** The settings that hold when every source has had its say (CF-4). */
export function settingsOf(
  { environment, file, source, project }: SettingsLayers,
  { verify: level, parallel, store }: Pick<SettingsRequest, 'verify' | 'parallel' | 'store'> = {},
): Settings {
  const flags = {
    ...(level ? { verify: { level } } : {}),
    ...(parallel ? { limits: { parallel } } : {}),
    ...(store ? { store } : {}),
  };
  const merged = overlay(overlay(file, environment.settings), flags);
  return resolveSettings({ file: merged, project, filePath: source?.path ?? null });
}

/** Reads every source; the mistakes of all of them are one `config-invalid` Problem (CF-3). */
export async function loadLayers(request: SettingsRequest): Promise<Result<SettingsLayers, Problem>> {
  const found = await readAgentsFile(request.cwd, request.file);
  if (!found.ok) return found;
  const project = request.packageName ?? (await projectName(request.cwd));
  const read = found.value ? readText(found.value, request.env) : null;
  const environment = readEnvironment(request.env, read && read.mistakes.length > 0 ? null : read?.file);
  const fileMistakes = read ? read.mistakes : [];
  if (fileMistakes.length + environment.mistakes.length > 0) {
    return err(invalid(read, environment.mistakes));
  }
  const source = read && { path: read.path, name: read.name, text: read.text };
  return ok({ environment, file: read?.file ?? {}, source, project });
}

interface FileReading {
  readonly path: string;
  readonly name: string;
  readonly text: string;
  readonly file: AgentsFile;
  readonly mistakes: readonly Diagnostic[];
}

function readText({ path, name, bytes }: AgentsFileBytes, env: SettingsRequest['env']): FileReading {
  const decoded = decodeUtf8(bytes);
  if (!decoded.ok) {
    return { path, name, text: decoded.error.text, file: {}, mistakes: [decoded.error.diagnostic] };
  }
  const parsed = parseAgentsFile(decoded.value, env);
  const { file, mistakes } = parsed.ok
    ? { file: parsed.value, mistakes: [] }
    : { file: {}, mistakes: parsed.error };
  return { path, name, text: decoded.value, file, mistakes };
}

function invalid(read: FileReading | null, fromEnvironment: readonly string[]): Problem {
  const inFile = read?.mistakes.length ?? 0;
  const places = [
    ...(read && inFile > 0 ? [`${read.name} has ${counted(inFile, 'mistake')}`] : []),
    ...(fromEnvironment.length > 0
      ? [`the environment has ${counted(fromEnvironment.length, 'mistake')}`]
      : []),
  ];
  const names = [
    ...(read && inFile > 0 ? [read.name] : []),
    ...(fromEnvironment.length > 0 ? ['the environment'] : []),
  ];
  return {
    kind: 'config-invalid',
    message: places.join(', '),
    detail: [
      ...(read && inFile > 0 ? [renderDiagnostics(read, read.mistakes)] : []),
      ...fromEnvironment,
    ].join('\n\n'),
    remedy: `Correct ${names.join(' and ')}; nothing was run.`,
  };
}

/** A text that could not be decoded: as much of it as can be shown, and the mistake. */
interface Undecodable {
  readonly text: string;
  readonly diagnostic: Diagnostic;
}

/** Decodes UTF-8, with or without a byte order mark; bytes that are none are a mistake with a position. */
export function decodeUtf8(bytes: Uint8Array): Result<string, Undecodable> {
  const text = new TextDecoder().decode(bytes);
  if (isUtf8(bytes)) return ok(text);
  // What cannot be decoded has become this character; one of the file's own before it is next to never.
  const start = text.indexOf('\uFFFD');
  const hint = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
  const message = `this is not UTF-8${hint}; save the file as UTF-8`;
  return err({ text, diagnostic: { start, end: start + 1, message } });
}

/** One tree of plain data over another: mappings are joined, and anything else of the upper one takes the place of the lower. */
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

/** What a project is called: the name in its package.json, else that of its folder. */
async function projectName(cwd: string): Promise<string> {
  return (await packageName(cwd)) ?? (path.basename(path.resolve(cwd)) || 'project');
}

/** A package.json that is absent or broken is for others to complain about. */
async function packageName(cwd: string): Promise<string | null> {
  const text = await readFile(path.join(cwd, 'package.json'), 'utf8').catch(() => '');
  const { name } = Object(jsonOf(text)) as { name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
}
