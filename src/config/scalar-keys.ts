import { agentsJsonSchema, type JsonSchema } from './json-schema.js';

/** A setting of agents.yaml with a single value: not a list, and not a mapping with user-defined names. */
export interface ScalarKey {
  readonly path: readonly string[];
  readonly kind: 'number' | 'boolean' | 'text';
}

/** Returns all such settings in the order of the schema, except `version`, which describes the file. */
export function scalarKeys(): readonly ScalarKey[] {
  return below(agentsJsonSchema(), []).filter(({ path }) => path.join('.') !== 'version');
}

function below(node: JsonSchema, path: readonly string[]): ScalarKey[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const here = [...path, key];
    if (child.type === 'object') return below(child, here);
    if (child.type === 'array') return [];
    return [{ path: here, kind: kindOf(child) }];
  });
}

function kindOf({ type }: JsonSchema): ScalarKey['kind'] {
  if (type === 'boolean') return type;
  return type === 'string' ? 'text' : 'number';
}
