import { isBuiltInRunner } from '../core/built-in-runner.js';
import { mapTexts } from '../map-texts.js';
import { defaultAgents } from './agent-schema.js';
import { lineNumberAt } from './diagnostic.js';
import { withoutPassword } from './environment-settings.js';
import { schemaAt } from './json-schema.js';
import type { SettingsLayers } from './load-settings.js';
import { readYaml } from './read-yaml.js';
import { settingKeys } from './scalar-keys.js';
import { valueAt } from './tree.js';

/** Where a value came from. */
export type Origin =
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'file'; readonly file: string; readonly line: number }
  | { readonly from: 'default' }
  /** The project's name in its package.json, or the name of its folder. */
  | { readonly from: 'project' }
  /** The setting of the whole file, for an agent that has none of its own. */
  | { readonly from: 'setting'; readonly setting: string };

/** An effective value and its path in agents.yaml. The value is null if nothing is set. */
export interface EffectiveValue {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly origin: Origin;
}

/**
 * Returns every effective value in the order of the schema, as written in agents.yaml (CF-4). A text with `${VAR}` is returned
 * unexpanded, since its value may be a secret.
 */
export function effectiveSettings(layers: SettingsLayers): EffectiveValue[] {
  const look = lookup(layers);
  const named = (key: string, others: readonly string[] = []) => [
    ...new Set([...others, ...Object.keys(Reflect.get(layers.file, key) ?? {})]),
  ];
  const runners = named('runners').flatMap((name) =>
    isBuiltInRunner(name)
      ? ['args', 'env'].map((key) => look(['runners', name, key])).filter(({ value }) => value !== null)
      : ['command', 'prompt'].map((key) => look(['runners', name, key])),
  );
  const runner = look(['runner']);
  const agents = named('agents', defaultAgents).flatMap((name) => [
    look(['agents', name, 'slashCommand'], `/${name}`),
    inherited(look(['agents', name, 'runner'], runner.value), 'runner'),
    look(['agents', name, 'timeout']),
  ]);
  const others = settingKeys().map(({ path }) => look(path));
  const isTop = ({ path }: EffectiveValue) => path.length === 1;
  return [...others.filter(isTop), ...runners, ...agents, ...others.filter((one) => !isTop(one))];
}

function inherited(value: EffectiveValue, setting: string): EffectiveValue {
  return value.origin.from === 'default' ? { ...value, origin: { from: 'setting', setting } } : value;
}

type Lookup = (path: readonly string[], fallback?: unknown) => EffectiveValue;

/** Looks a value up in the environment, then the file, then uses the fallback, or the default of the schema. */
function lookup({ environment, source, project }: SettingsLayers): Lookup {
  const written = source && readYaml(source.text, null);
  const byPath = new Map(environment.values.map((one) => [one.path.join('\0'), one]));
  return (path, fallback = schemaAt(path)?.default ?? null) => {
    const set = byPath.get(path.join('\0'));
    if (set)
      return {
        path,
        value: mapTexts(set.value, withoutPassword),
        origin: { from: 'environment', variable: set.variable },
      };
    const own = valueAt(written?.data, path);
    if (source && written && own !== undefined) {
      const line = lineNumberAt(source.text, written.places.locate(path, 'value').start);
      return {
        path,
        value: mapTexts(own, withoutPassword),
        origin: { from: 'file', file: source.name, line },
      };
    }
    if (path.join('.') === 'project') return { path, value: project, origin: { from: 'project' } };
    return { path, value: fallback, origin: { from: 'default' } };
  };
}
