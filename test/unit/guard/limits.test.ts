import { expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';
import { leftOut, refusals } from './judged.js';

const imports = "import { test, expect } from '@playwright/test';\n";
const file = 'tests/large.spec.ts';

/** What is refused in a change to a spec. */
async function judged(before: string, after: string): Promise<string[]> {
  const findings = await judge(requestOf([[file, after]], 'ui-error', [[file, before]]));
  return [...refusals(findings), ...findings.violations.map(({ says }) => says)];
}

const spec = (steps: readonly string[]) =>
  `${imports}test('x', async ({ page }) => {\n${steps.join('\n')}\n});\n`;
const step = (n: number) => `await expect(page.locator('#r')).toHaveText('${n % 3}');`;
const steps = Array.from({ length: 3000 }, (_, n) => step(n));

it('HN-3 compares a test of 3,000 steps step by step', { timeout: 60_000 }, async () => {
  expect(await judged(spec(steps), spec(steps.toSpliced(1500, 1)))).toEqual(['weaker']);
  const changed = steps.map((one, n) => (n % 100 === 7 ? one.replace('#r', '#s') : one));
  expect(await judged(spec(steps), spec(changed))).toEqual([]);
});

it('HN-3 rejects constants that grow exponentially instead of printing them', async () => {
  const doubling = Array.from({ length: 40 }, (_, n) => `const a${n + 1} = a${n} + a${n};`).join('\n');
  const text = (last: string) =>
    `${imports}const a0 = 'x';\n${doubling}\ntest('x', () => { expect(${last}).toBe(''); });\n`;
  expect(await judged(text("''"), text('a40'))).toContainEqual(
    expect.stringContaining('too long to be judged'),
  );
});

it('HN-3 rejects code that is nested too deeply, and compares deep code down to its innermost value', async () => {
  const nested = (depth: number, inner: string) => '[0, '.repeat(depth) + inner + ']'.repeat(depth);
  const text = (value: string) => `${imports}test('x', () => { expect([]).toEqual(${value}); });\n`;
  expect(await judged(text(nested(90, '1')), text(nested(90, '2')))).toEqual(['different']);
  const sum = (count: number) => `${'1 + '.repeat(count)}1`;
  expect(await judged(text(sum(10)), text(sum(5000)))).toContainEqual(
    expect.stringContaining('nested too deeply'),
  );
});

it('HN-3 rejects a test file that is not UTF-8', async () => {
  const request = requestOf([[file, spec(steps.slice(0, 2))]], 'ui-error', [[file, spec(steps.slice(0, 2))]]);
  const bytes = Buffer.from(spec(["await page.getByText('Größe').click();"]), 'latin1');
  const after = {
    ...request.after,
    read: async (paths: readonly string[]) =>
      new Map(
        [...(await request.after.read(paths))].map(([path, own]) => [path, path === file ? bytes : own]),
      ),
  };
  expect(leftOut(await judge({ ...request, changes: [{ path: file }], after }))).toEqual([file]);
});

it('HN-3 judges a change in a suite of 3,000 test files with aliases', { timeout: 60_000 }, async () => {
  const many = Array.from(
    { length: 3000 },
    (_, n) =>
      [
        `tests/s${n}.spec.ts`,
        `${imports}import { CartPage } from '@/pages/cart-page';\ntest('t', async ({ page }) => { await new CartPage(page).open(); });\n`,
      ] as const,
  );
  const edit = ['tests/pages/cart-page.ts', "goto('/cart')", "goto('/')"] as const;
  expect(refusals(await judge(requestOf([edit], 'ui-error', many)))).not.toEqual([]);
});

it('HN-3 judges a change in a schema of 8,000 lines', { timeout: 60_000 }, async () => {
  const schema = Array.from(
    { length: 4000 },
    (_, n) => `create table t${n} (id integer not null unique,\n  name text not null);\n`,
  ).join('');
  const path = 'db/structure.sql';
  const mended = schema.replace('name text', 'title text');
  const { violations } = await judge(requestOf([[path, mended]], 'database-error', [[path, schema]]));
  expect(violations).toEqual([]);
});

it('HN-3 sees what is asserted of each element of a list that begins empty and is filled by the test', async () => {
  const hooks = (assertion: string) =>
    `${imports}const made = [];
    test.beforeAll(async ({ request }) => { made.push(await request.post('/api/notes')); });
    test.afterAll(async ({ request }) => {
      for (const note of made) { const answer = await request.delete(note.url()); ${assertion} }
    });
    test('x', async () => { expect(made).toHaveLength(1); });\n`;
  const asserted = hooks('expect(answer.status()).toBe(204);');
  expect(await judged(asserted, hooks(''))).toEqual(['weaker']);
  expect(await judged(asserted, asserted)).toEqual([]);
});
