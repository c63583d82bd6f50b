import { describe, expect, it } from 'vitest';
import { jsonLines } from '../../rig/json-lines.js';
import { judged } from './judged.js';

const file = 'tests/shop.spec.ts';
const imports =
  "import { test, expect } from '@playwright/test';\nimport { writeFileSync, readFileSync } from 'node:fs';\n";
const spec = (body: string, before = '') =>
  `${imports}${before}test('buys', async ({ page }, info) => {\n${body}\n});\n`;

/** What the guard says about a flaky spec that was changed: let in, refused, or for a person. */
async function said(before: string, after: string, category: 'flaky' | 'ui-error' = 'flaky') {
  const { violations, differences } = await judged([[file, after]], category, [[file, before]]);
  if (violations.length > 0) return `refused: ${violations[0]?.says}`;
  return differences.length > 0 ? 'person' : 'in';
}

/** A change of a flaky test, or of the file around it. */
interface ChangedStep {
  readonly said: 'in' | 'refused' | 'person';
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly ofFile?: string;
}

describe('FL-3 a fix may only add waits to a flaky test; a person decides about isolating it', () => {
  it.each(jsonLines<ChangedStep>(import.meta.dirname, 'flaky-steps.jsonl'))(
    'FL-3 $said: it $what',
    async ({ said: expected, what, before, after, ofFile }) => {
      const why = await said(spec(before), spec(after, ofFile));
      expect(why).toContain(expected);
      if (expected === 'refused') expect(why).toContain(what);
    },
  );

  it('FL-3 only a flaky test may get an assertion that waits instead of a one-shot check', async () => {
    const [before, after] = [
      "expect(await page.getByRole('status').isVisible()).toBe(true);",
      "await expect(page.getByRole('status')).toBeVisible();",
    ];
    expect(await said(spec(before), spec(after), 'ui-error')).not.toBe('in');
  });
});
