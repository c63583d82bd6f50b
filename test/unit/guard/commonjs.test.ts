import { expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';

const file = 'tests/global-teardown.js';
const check = "  if (left.length > 0) throw new Error('left: ' + left);\n";

it.each([
  'module.exports = async () =>',
  'exports.tearDown = async function ()',
  'export default async () =>',
])('HN-3 sees what `%s` no longer checks, which no test calls', async (head) => {
  const text = `import { readdirSync } from 'node:fs';\n${head} {\n  const left = readdirSync('tmp');\n${check}};\n`;
  const { violations } = await judge(requestOf([[file, check, '']], 'ui-error', [[file, text]]));
  expect(violations.map(({ rule }) => rule)).toEqual(['step-removed']);
});
