import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { acpPrograms, builtInRunners, reviewer } from '../model/built-in.js';
import type { AgentSettings, RunnerSettings, Settings } from '../model/settings.js';
import { parseJson } from '../parse-json.js';
import { counted } from '../format.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { type AgentsFileText, findMistakes, parseAgentsFile, readAgentsFile } from './agents-file.js';
import { findClosest } from './closest.js';
import { type Diagnostic, renderDiagnostics } from './diagnostic.js';
import {
  agentsFileSchema,
  type AgentsFile,
  defaultAgents,
  defaultRunner,
  type FilledAgentsFile,
} from './schema.js';

type Env = Readonly<Record<string, string | undefined>>;

interface SettingsRequest {
  /** The project's root, which may contain agents.yaml (or agents.yml). */
  readonly cwd: string;
  /** A file named by the user, which must exist. */
  readonly file?: string | undefined;
  /** The source of `${VAR}`, and of the variables that take precedence over the file. */
  readonly env: Env;
  /** From flags or the library's caller; they take precedence over everything else. */
  readonly overrides?: AgentsFile | undefined;
}

/**
 * Loads agents.yaml, or the built-in defaults if there is none. Overrides take precedence over the environment, and the environment over the file
 * (CF-4). All mistakes together are one `config-invalid` Problem (CF-3).
 */
export async function loadSettings(request: SettingsRequest): Promise<Result<Settings, Problem>> {
  const readResult = await readAgentsFile(request.cwd, request.file);
  if (!readResult.ok) return readResult;
  const source = readResult.value;
  const encodingMistake = source?.encodingMistake;
  const parsed = encodingMistake ? err([encodingMistake]) : parseAgentsFile(source?.text ?? '', request.env);
  const fromFile = parsed.ok ? parsed.value : {};
  const runners = parsed.ok ? Object.keys(fromFile.runners ?? {}) : null;
  const environment = readEnvironment(request.env, runners);
  const overrides = request.overrides ?? {};
  const overrideMistakes =
    runners === null ? [] : findMistakes(overrides, runners).map(({ message }) => message);
  if (!parsed.ok || !environment.ok || overrideMistakes.length > 0)
    return err(
      createInvalidProblem(source, {
        file: parsed.ok ? [] : parsed.error,
        environment: environment.ok ? [] : environment.error,
        overrides: overrideMistakes,
      }),
    );
  const layers = [...environment.value.map(({ settings }) => settings), overrides];
  const file = layers.reduce(overlaySettings, fromFile);
  const { cwd } = request;
  return ok(resolveSettings({ file, project: await readProjectName(cwd), filePath: source?.path ?? null }));
}

/** Merges two settings objects key by key; `overrides` takes precedence. A list replaces a list, and an undefined value changes nothing. */
export function overlaySettings<T extends object>(base: T, overrides: T): T {
  const entries = Object.entries(overrides).flatMap(([key, value]): [string, unknown][] => {
    const baseValue: unknown = Reflect.get(base, key);
    if (value === undefined) return [];
    return [[key, isMapping(baseValue) && isMapping(value) ? overlaySettings(baseValue, value) : value]];
  });
  return { ...base, ...Object.fromEntries(entries) };
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function createInvalidProblem(
  source: AgentsFileText | null,
  mistakes: {
    readonly file: readonly Diagnostic[];
    readonly environment: readonly string[];
    readonly overrides: readonly string[];
  },
): Problem {
  const { name = '', text = '' } = source ?? {};
  const { file, environment, overrides } = mistakes;
  const invalidSources = [
    { source: name, count: file.length, detail: renderDiagnostics(name, text, file) },
    { source: 'the environment', count: environment.length, detail: environment.join('\n') },
    { source: 'the settings object', count: overrides.length, detail: overrides.join('\n') },
  ].filter(({ count }) => count > 0);
  const sources = invalidSources.map((entry) => entry.source);
  return {
    kind: 'config-invalid',
    message: invalidSources
      .map((entry) => `${entry.source} has ${counted(entry.count, 'mistake')}`)
      .join(', '),
    detail: invalidSources.map(({ detail }) => detail).join('\n\n'),
    remedy: `Correct ${sources.join(' and ')}; nothing was run.`,
  };
}

/** Environment variables, with the path of the setting that each sets: settings that differ between a laptop and CI, or are secret (CF-4). */
const variables: Readonly<Record<string, readonly string[]>> = {
  SELF_HEAL_STORE: ['store'],
  SELF_HEAL_RUNNER: ['runner'],
  SELF_HEAL_VERIFY: ['verify', 'level'],
  SELF_HEAL_COST_USD: ['limits', 'costUsd'],
};

interface EnvironmentValue {
  readonly variable: string;
  /** The value as agents.yaml would contain it. */
  readonly settings: AgentsFile;
}

/**
 * Reads settings from environment variables. An empty variable counts as unset, since CI systems may pass unset variables as empty ones.
 * `runners` is null if agents.yaml cannot be parsed; SELF_HEAL_RUNNER then goes unchecked.
 */
function readEnvironment(
  env: Env,
  runners: readonly string[] | null,
): Result<readonly EnvironmentValue[], readonly string[]> {
  const values = Object.entries(variables).flatMap(([variable, keys]): EnvironmentValue[] => {
    const text = env[variable]?.trim() ?? '';
    if (text === '' || (runners === null && variable === 'SELF_HEAL_RUNNER')) return [];
    const value = /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
    return [
      {
        variable,
        settings: keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as AgentsFile,
      },
    ];
  });
  const mistakes = values.flatMap(({ variable, settings }) =>
    // The message omits the value, which may be a secret.
    findMistakes(settings, runners ?? []).map(({ message }) => `${variable}: ${message}`),
  );
  const all = [...mistakes, ...findMisspelledVariables(env)];
  return all.length === 0 ? ok(values) : err(all);
}

/** Reports each variable whose name is close to one of ours. Any other SELF_HEAL_ variable may belong to another program. */
function findMisspelledVariables(env: Env): string[] {
  const prefix = 'SELF_HEAL_';
  const settingNames = Object.keys(variables).map((name) => name.slice(prefix.length));
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith(prefix) || name in variables || !env[name]) return [];
    const closest = findClosest(name.slice(prefix.length), settingNames);
    return closest === null ? [] : [`${name}: unknown setting; did you mean "${prefix}${closest}"?`];
  });
}

/** Returns the name in the project's package.json, or the name of its folder. */
async function readProjectName(cwd: string): Promise<string> {
  // A broken package.json is reported elsewhere.
  const text = await readFile(path.join(cwd, 'package.json'), 'utf8').catch(() => '');
  const { name } = Object(parseJson(text)) as { name?: unknown };
  if (typeof name === 'string' && name.trim() !== '') return name.trim();
  return path.basename(path.resolve(cwd)) || 'project';
}

interface SettingsSources {
  readonly file: AgentsFile;
  /** The project's name if the file does not set it. */
  readonly project: string;
  readonly filePath: string | null;
}

/** Fills in all defaults. Agents and runners are added to the built-in ones; a route replaces the built-in one. */
export function resolveSettings({ file: input, project, filePath }: SettingsSources): Settings {
  const builtIn = Object.fromEntries(defaultAgents.map((name) => [name, {}]));
  const file = agentsFileSchema.parse({ ...input, agents: { ...builtIn, ...input.agents } });
  const agentsWithoutRunner = Object.entries(file.agents).filter(([, { runner }]) => runner === undefined);
  const { max, backoff } = file.retries;
  // Only `publish` reads `perBranch`, and only from the default branch.
  const { time, perBranch: _, ...limits } = file.limits;
  const { regressionTime, prepare = null, ...verify } = file.verify;
  const { enabled, time: timeMs } = file.blame;
  return {
    project: file.project ?? project,
    agents: resolveAgents(file),
    runners: resolveRunners(file),
    routes: file.routes,
    classify: {
      ...file.classify,
      rules: file.classify.rules.map(({ class: category, retry = null, ...rule }) => ({
        ...rule,
        category,
        retry,
      })),
    },
    retries: { max, backoff: { initialMs: backoff.initial, factor: backoff.factor, maxMs: backoff.max } },
    limits: { ...limits, timeMs: time },
    evidence: file.evidence,
    verify: applyVerifyLevel({ ...verify, prepare, regressionTimeMs: regressionTime }),
    blame: { enabled, timeMs },
    quarantine: file.quarantine,
    memory: file.memory,
    flaky: { runs: file.flaky.runs, timeMs: file.flaky.time },
    store: file.store,
    fixer: file.fixer,
    agentsWithDefaultRunner: file.runner === undefined ? agentsWithoutRunner.map(([name]) => name) : [],
    reviewer: file.agents[reviewer]?.runner ?? null,
    file: filePath,
  };
}

/** The level `quick` overrides the individual numbers. */
function applyVerifyLevel(verify: Settings['verify']): Settings['verify'] {
  if (verify.level !== 'quick') return verify;
  return { ...verify, repeat: 1, flips: 0 };
}

function resolveAgents(file: FilledAgentsFile): Record<string, AgentSettings> {
  const fileRunner = file.runner ?? defaultRunner;
  return Object.fromEntries(
    Object.entries(file.agents).map(([name, { slashCommand = `/${name}`, runner = fileRunner, timeout }]) => [
      name,
      { name, slashCommand, runner, timeoutMs: timeout },
    ]),
  );
}

function resolveRunners({ runners }: FilledAgentsFile): Record<string, RunnerSettings> {
  const knownRunners = [...builtInRunners, ...Object.keys(acpPrograms)].map((name) => [name, {}] as const);
  return Object.fromEntries(
    Object.entries({ ...Object.fromEntries(knownRunners), ...runners }).map(([name, runner]) => [
      name,
      resolveRunner(name, runner),
    ]),
  );
}

function resolveRunner(name: string, runner: Partial<FilledAgentsFile['runners'][string]>): RunnerSettings {
  const { command, prompt = 'stdin', acp = acpPrograms[name]?.command, args, env, allow } = runner;
  if (name === 'claude' || name === 'codex')
    return { kind: name, ...(args && { args }), ...(env && { env }) };
  if (command || !acp) return { kind: 'command', command: command ?? [], prompt };
  const options = { ...(env && { env }), ...(allow && { allow }) };
  return { kind: 'acp', program: name, command: [...acp, ...(args ?? [])], ...options };
}
