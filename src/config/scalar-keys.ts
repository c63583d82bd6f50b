import { agentsJsonSchema, type JsonSchema } from './json-schema.js';

/** A setting of agents.yaml that is not below the name of an agent or a runner. */
export interface SettingKey {
  readonly path: readonly string[];
  readonly kind: 'number' | 'boolean' | 'text' | 'list';
}

/** Returns all such settings in the order of the schema, except `version`, which describes the file. */
export function settingKeys(): readonly SettingKey[] {
  return below(agentsJsonSchema(), []).filter(({ path }) => path.join('.') !== 'version');
}

/** Returns those with a single value. */
export function scalarKeys(): readonly SettingKey[] {
  return settingKeys().filter(({ kind }) => kind !== 'list');
}

function below(node: JsonSchema, path: readonly string[]): SettingKey[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const here = [...path, key];
    return child.type === 'object' ? below(child, here) : [{ path: here, kind: kindOf(child) }];
  });
}

function kindOf({ type }: JsonSchema): SettingKey['kind'] {
  if (type === 'boolean') return type;
  if (type === 'array') return 'list';
  return type === 'string' ? 'text' : 'number';
}
