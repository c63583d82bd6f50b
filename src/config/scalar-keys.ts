import { agentsJsonSchema } from './json-schema.js';

/** A setting of agents.yaml that is one value: not a list, and not a mapping with names of the user's. */
export interface ScalarKey {
  readonly path: readonly string[];
  readonly kind: 'number' | 'text';
}

/** As much of a JSON Schema as is read here. */
interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
}

let remembered: readonly ScalarKey[] | undefined;

/** All of them in the order of the schema, `version` excepted: that is the file's and no setting. */
export function scalarKeys(): readonly ScalarKey[] {
  remembered ??= below(agentsJsonSchema(), []).filter(({ path }) => path.join('.') !== 'version');
  return remembered;
}

function below(node: Node, path: readonly string[]): ScalarKey[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const here = [...path, key];
    if (child.type === 'object') return below(child, here);
    if (child.type === 'array') return [];
    return [{ path: here, kind: child.type === 'string' ? 'text' : 'number' }];
  });
}
