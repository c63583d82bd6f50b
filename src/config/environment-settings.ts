import { closest } from './closest.js';
import { checkReferences } from './check-references.js';
import { describeIssues } from './check-shape.js';
import { markLine } from './diagnostic.js';
import { hint } from './mistake.js';
import { scalarKeys, type SettingKey } from './scalar-keys.js';
import { agentsFileSchema, type AgentsFile } from './schema.js';
import { treeOf } from './tree.js';

type Env = Readonly<Record<string, string | undefined>>;

/** A setting from an environment variable. */
export interface EnvironmentValue {
  /** For example `SELF_HEAL_LIMITS_COST_USD`. */
  readonly variable: string;
  /** For example `limits`, `costUsd`. */
  readonly path: readonly string[];
  /** As agents.yaml would contain it. */
  readonly value: string | number | boolean;
}

/** The settings from the environment, and the mistakes in them, each as text with a marked line. */
export interface EnvironmentSettings {
  readonly values: readonly EnvironmentValue[];
  /** The values in the shape of agents.yaml; empty if there are mistakes. */
  readonly settings: AgentsFile;
  readonly mistakes: readonly string[];
}

const PREFIX = 'SELF_HEAL_';

/**
 * Variables that are not settings: self-heal passes them to agents and to processes it starts. They may be set if self-heal itself runs
 * inside an agent.
 */
const ownVariables: ReadonlySet<string> = new Set(
  'ATTEMPT CAPTURE_KEEP CHROMIUM CONTEXT PLAYWRIGHT_DIR PROMPT RUN_ID START_ID'
    .split(' ')
    .map((name) => PREFIX + name),
);

/**
 * Reads `SELF_HEAL_<KEY>` for every setting with a single value (CF-4): `SELF_HEAL_RETRIES_MAX=5` is `retries: { max: 5 }`. An empty
 * variable counts as unset, since CI systems may pass unset variables as empty ones. `file` supplies the names of custom runners; if it
 * could not be read (null), runners are not checked.
 */
export function readEnvironment(env: Env, file: AgentsFile | null = {}): EnvironmentSettings {
  if (!Object.keys(env).some(isSetting)) return { values: [], settings: {}, mistakes: [] };
  const keys = scalarKeys();
  const values = keys.flatMap((key) => {
    const variable = variableOf(key.path);
    const text = env[variable]?.trim() ?? '';
    return text === '' ? [] : [{ variable, path: key.path, value: valueOf(text, key) }];
  });
  const settings = treeOf(values);
  const checked = agentsFileSchema.safeParse(settings);
  const found = [
    ...describeIssues(checked.error?.issues ?? [], settings),
    ...(file ? checkReferences({ runner: settings['runner'], runners: file.runners }) : []),
  ];
  const mistakes = [
    ...found.flatMap(({ path, message }) => {
      const at = values.find((one) => one.path.join('.') === path.join('.'));
      return at
        ? [`${at.variable}: ${message}\n${marked(at.variable, String(env[at.variable]), 'value')}`]
        : [];
    }),
    ...misspelt(env, keys),
  ];
  return { values, settings: mistakes.length === 0 ? settings : {}, mistakes };
}

/** Returns the variable of a setting: `limits`, `costUsd` → `SELF_HEAL_LIMITS_COST_USD`. */
export function variableOf(path: readonly string[]): string {
  return PREFIX + path.map((key) => key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()).join('_');
}

/** Parses a number or a boolean if the setting is one. Anything else stays text, and the schema reports what is wrong with it. */
function valueOf(text: string, { kind }: SettingKey): string | number | boolean {
  if (kind === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  return kind === 'number' && /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function isSetting(variable: string): boolean {
  return variable.startsWith(PREFIX) && !ownVariables.has(variable);
}

/** Reports variables whose names resemble a setting's, which would otherwise be ignored silently. Others may belong to somebody else. */
function misspelt(env: Env, keys: readonly SettingKey[]): string[] {
  const known = new Map(keys.map(({ path }) => [variableOf(path).slice(PREFIX.length), path]));
  const strangers = Object.keys(env).filter(
    (name) => isSetting(name) && !known.has(name.slice(PREFIX.length)),
  );
  return strangers.sort().flatMap((name) => {
    const near = closest(name.slice(PREFIX.length), known.keys());
    if (near === null || env[name] === undefined || env[name] === '') return [];
    const meant = hint(PREFIX + near, [], '');
    return [`${name}: unknown setting${meant}\n${marked(name, env[name], 'name')}`];
  });
}

/** Shows the variable as set in a shell, with a marker under the mistake. */
function marked(name: string, value: string, part: 'name' | 'value'): string {
  const line = `${name}=${withoutPassword(value).replaceAll(/\r?\n/g, ' ')}`;
  const from = part === 'name' ? 0 : name.length + 1;
  return markLine(line, from, part === 'name' ? name.length : line.length).join('\n');
}

/** Masks the password in a URL, which must not be shown. */
export function withoutPassword(text: string): string {
  return text.replaceAll(/(:\/\/[^\s/:@]*):[^\s/]*@/g, '$1:***@');
}
