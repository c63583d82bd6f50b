import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { agentsJsonSchema, allowedKeys } from '../../../src/config/schema.js';
import { categories } from '../../../src/core/diagnosis.js';

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
  it('CF-2 is committed as generated from src/config/schema.ts (npm run build)', async () => {
    expect(await readFile(committed, 'utf8')).toBe(`${JSON.stringify(agentsJsonSchema(), null, 2)}\n`);
  });

  it('CF-2 follows draft-07', () => {
    expect(agentsJsonSchema().$schema).toBe('http://json-schema.org/draft-07/schema#');
  });

  it('CF-2 describes every key', () => {
    expect(undescribed(agentsJsonSchema(), '')).toEqual([]);
  });

  it('CF-3 allows no unknown key anywhere', () => {
    const text = `${JSON.stringify(agentsJsonSchema(), null, 2)}\n`;
    const objects = text.match(/"properties"/g)?.length;
    expect(objects).toBe(12);
    expect(text.match(/"additionalProperties": false/g)).toHaveLength(objects ?? 0);
  });

  it('CF-3 knows the keys of every mapping', () => {
    expect(allowedKeys(['routes'])).toEqual([...categories]);
    expect(allowedKeys(['agents', 'any'])).toEqual(['slashCommand', 'runner', 'timeout']);
    expect(allowedKeys(['retries', 'backoff'])).toEqual(['initial', 'factor', 'max']);
    expect(allowedKeys(['agents'])).toEqual([]);
    expect(allowedKeys(['no', 'such', 0])).toEqual([]);
  });
});
