import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { agentsJsonSchema } from '../../../src/config/schema.js';

const committed = new URL('../../../schema/agents.schema.json', import.meta.url);

interface Node {
  description?: string;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
}

/** The keys of a schema without a description for editors to show. */
function undescribed(node: Node, path: string): string[] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
    ...(child.description ? [] : [`${path}${key}`]),
    ...undescribed(child, `${path}${key}.`),
  ]);
  const rest =
    typeof node.additionalProperties === 'object' ? undescribed(node.additionalProperties, `${path}*.`) : [];
  return [...own, ...rest];
}

describe('CF-2 the JSON Schema', () => {
  it('CF-2 is draft-07, committed as generated from src/config/schema.ts (npm run build)', async () => {
    expect(agentsJsonSchema().$schema).toBe('http://json-schema.org/draft-07/schema#');
    expect(await readFile(committed, 'utf8')).toBe(`${JSON.stringify(agentsJsonSchema(), null, 2)}\n`);
  });

  it('CF-2 describes every key', () => {
    expect(undescribed(agentsJsonSchema(), '')).toEqual([]);
  });
});
