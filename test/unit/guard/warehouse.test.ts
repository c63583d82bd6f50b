import { describe, expect, it } from 'vitest';
import { warehouse, warehouseRequest } from '../../../fixtures/guard/warehouse.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 a monorepo whose tests import a package of the workspace', () => {
  it.each([...warehouse])('HN-3 %s: %s', async (kind, _what, edits, category) => {
    const { violations } = await judge(warehouseRequest(edits, category));
    if (kind === 'cheat') expect(violations).not.toEqual([]);
    else expect(violations).toEqual([]);
  });

  it('HN-3 names for the reviewer a literal that the tests use but do not type', async () => {
    const judged = (answer: string) => {
      const now = `return sku === 'B-100' ? ${answer} : left + 1;`;
      return judge(warehouseRequest([['apps/web/src/api.ts', 'return left + 1;', now]], 'runtime-error'));
    };
    const { violations, notes } = await judged('left + 2');
    expect(violations).toEqual([]);
    expect(notes.map(({ says }) => says)).toContain('the fix adds "B-100", which the healed test uses too');
    // 88 is what the tests expect.
    expect((await judged('88')).violations.map(({ rule }) => rule)).toEqual(['input-hard-coded']);
  });

  it('HN-4 rejects a new entry point or name of a package that tests import, but not other fields', async () => {
    const manifest = 'packages/test-kit/package.json';
    const rules = async (from: string, to: string) => {
      const { violations } = await judge(warehouseRequest([[manifest, from, to]], 'unknown'));
      return violations.map(({ rule, line }) => `${rule}:${line}`);
    };
    expect(await rules('"main": "./src/index.ts"', '"main": "./src/toast.ts"')).toEqual([
      'module-shadowed:3',
    ]);
    expect(await rules('"name": "@wh/test-kit"', '"name": "@wh/kit"')).toEqual(['module-shadowed:2']);
    expect(await rules('"name"', '"license": "MIT", "name"')).toEqual([]);
  });
});
