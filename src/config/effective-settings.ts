import { mapTexts } from '../secrets/reading.js';
import { valueAt } from './agents-file.js';
import { lineNumberAt } from './diagnostic.js';
import type { SettingsLayers } from './load-settings.js';
import { readYaml } from './read-yaml.js';
import { agentsJsonSchema, defaultAgents, type JsonSchema } from './schema.js';

/** A setting in force, with its path in agents.yaml and where its value comes from. */
interface EffectiveSetting {
  readonly path: readonly string[];
  readonly value: unknown;
  /** An environment variable, `agents.yaml:12`, or `default`. */
  readonly origin: string;
}

/**
 * Returns every setting that has a value, in the order of the schema and as written in agents.yaml (CF-4). A text with `${VAR}` is returned
 * unexpanded, since its value may be a secret.
 */
export function effectiveSettings({ environment, source, project }: SettingsLayers): EffectiveSetting[] {
  const written = source && readYaml(source.text, null);
  const find = (path: readonly string[], byDefault: unknown) => {
    const set = environment.find((one) => one.path.join('.') === path.join('.'));
    if (set) return { value: set.value, origin: set.variable };
    const value = valueAt(written?.data, path);
    if (!source || !written || value === undefined) return { value: byDefault, origin: 'default' };
    const line = lineNumberAt(source.text, written.locate(path, 'value').start);
    return { value, origin: `${source.name}:${line}` };
  };
  const runner = find(['runner'], agentsJsonSchema().properties?.['runner']?.default).value;
  const fallback = (path: readonly string[], schema: JsonSchema) => {
    if (path.join('.') === 'project') return project;
    if (path[0] !== 'agents') return schema.default;
    return { slashCommand: `/${path[1]}`, runner }[path[2] ?? ''] ?? schema.default;
  };
  const below = (schema: JsonSchema, path: readonly string[]): EffectiveSetting[] => {
    const { properties, additionalProperties: named } = schema;
    const children = properties ? Object.entries(properties) : [];
    if (typeof named === 'object') {
      const own = Object.keys(Object(valueAt(written?.data, path)) as object);
      const builtIn = path[0] === 'agents' ? defaultAgents : [];
      children.push(
        ...[...new Set([...builtIn, ...own])].map((name) => [name, named] as [string, JsonSchema]),
      );
    } else if (!properties) {
      const { value, origin } = find(path, fallback(path, schema));
      return value === undefined ? [] : [{ path, value: mapTexts(value, withoutPassword), origin }];
    }
    return children.flatMap(([key, child]) => below(child, [...path, key]));
  };
  return below(agentsJsonSchema(), []);
}

/** Masks the password in a URL, which must not be shown. */
function withoutPassword(text: string): string {
  return text.replaceAll(/(:\/\/[^\s/:@]*):[^\s/]*@/g, '$1:***@');
}

export function settingsTable(settings: readonly EffectiveSetting[]): string {
  const rows = settings.map(
    ({ path, value, origin }) => [path.join('.'), JSON.stringify(value), origin] as const,
  );
  const width = (column: 0 | 1, most: number) =>
    Math.min(most, Math.max(...rows.map((row) => row[column].length)));
  const [first, second] = [width(0, 40), width(1, 40)];
  return rows
    .map(([key, value, origin]) => `${key.padEnd(first)}  ${value.padEnd(second)}  ${origin}`)
    .join('\n');
}
