import { closest } from './closest.js';
import { checkReferences } from './check-references.js';
import { describeIssues } from './check-shape.js';
import { markLine } from './diagnostic.js';
import { hint } from './mistake.js';
import { scalarKeys, type ScalarKey } from './scalar-keys.js';
import { agentsFileSchema, type AgentsFile } from './schema.js';
import { treeOf } from './tree.js';

type Env = Readonly<Record<string, string | undefined>>;

/** A setting that a variable of the environment gives. */
export interface EnvironmentValue {
  /** `SELF_HEAL_LIMITS_COST_USD`. */
  readonly variable: string;
  /** `limits`, `costUsd`. */
  readonly path: readonly string[];
  /** As agents.yaml would hold it. */
  readonly value: string | number;
}

/** What the environment says about the settings, and what is wrong with it, each as text with a marked line. */
export interface EnvironmentSettings {
  readonly values: readonly EnvironmentValue[];
  /** The values in the shape of agents.yaml; empty where there are mistakes. */
  readonly settings: AgentsFile;
  readonly mistakes: readonly string[];
}

const PREFIX = 'SELF_HEAL_';

/**
 * Variables of self-heal's own that are no settings: what a run gives to agents and to the processes which it starts. One of them
 * may well be set where self-heal runs inside an agent.
 */
const ownVariables: ReadonlySet<string> = new Set(
  'ATTEMPT CAPTURE_KEEP CHROMIUM CONTEXT PLAYWRIGHT_DIR PROMPT RUN_ID START_ID'
    .split(' ')
    .map((name) => PREFIX + name),
);

/**
 * Reads `SELF_HEAL_<KEY>` for every setting that is one value (CF-4): `SELF_HEAL_RETRIES_MAX=5` is `retries: { max: 5 }`. An empty
 * variable says nothing, as in CI systems that pass on what is not set. The file is asked for the runners that it names; a file
 * that could not be read (null) might have named any.
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
  return { values, settings: checked.success && mistakes.length === 0 ? checked.data : {}, mistakes };
}

/** `limits`, `costUsd` → `SELF_HEAL_LIMITS_COST_USD`. */
export function variableOf(path: readonly string[]): string {
  return PREFIX + path.map((key) => key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()).join('_');
}

/** `5` is a number where a number is due; all else goes to the schema as text, which says what is wrong with it. */
function valueOf(text: string, { kind }: ScalarKey): string | number {
  return kind === 'number' && /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function isSetting(variable: string): boolean {
  return variable.startsWith(PREFIX) && !ownVariables.has(variable);
}

/** A variable that is nearly a setting's would be passed over in silence; any other may be somebody else's. */
function misspelt(env: Env, keys: readonly ScalarKey[]): string[] {
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

/** The variable as a shell would set it, with a marker under what is wrong. */
function marked(name: string, value: string, part: 'name' | 'value'): string {
  const line = `${name}=${withoutPassword(value).replaceAll(/\r?\n/g, ' ')}`;
  const from = part === 'name' ? 0 : name.length + 1;
  return markLine(line, from, part === 'name' ? name.length : line.length).join('\n');
}

/** A URL may carry a password, which is shown to nobody. */
export function withoutPassword(text: string): string {
  return text.replaceAll(/(:\/\/[^\s/:@]*):[^\s/@]*@/g, '$1:***@');
}
