import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { project } from '../../../fixtures/guard/cases.mjs';
import { jsonLines } from '../../rig/json-lines.js';
import { judged, refusals } from './judged.js';

const file = 'tests/shop.spec.ts';
const imports = "import { test, expect } from '@playwright/test';\n";
const titled = (title: string, body: string) => `test('${title}', async ({ page }) => {\n${body}\n});\n`;
const spec = (body: string) => imports + titled('buys', body);

/** What the guard says about a spec that was changed. */
const compared = (before: string, after: string, path = file) =>
  judged([[path, after]], 'ui-error', [[path, before]]);
/** A change of a test's steps; `refused` is what may not become of the locators of a fix. */
interface ChangedStep {
  readonly strength: 'weaker' | 'different' | 'stronger' | 'refused';
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

const click = "await page.getByRole('button').click();";
const status = (matcher: string) => `await expect(page.getByRole('status')).${matcher};`;

describe('HN-3 a test is compared by its print', () => {
  it('HN-3 shows both prints, with the title, the file and the line', async () => {
    const [before, after] = [
      spec(`${click}\n${status("toHaveText('Paid')")}`),
      spec(`${click}\n${status("toHaveText('Open')")}`),
    ];
    expect((await compared(before, after)).differences).toEqual([
      {
        test: 'buys',
        file,
        line: 4,
        strength: 'different',
        before: ['await expect(getByRole("status")).toHaveText("Paid")'],
        after: ['await expect(getByRole("status")).toHaveText("Open")'],
      },
    ]);
  });

  it.each(jsonLines<ChangedStep>(import.meta.dirname, 'changed-steps.jsonl'))(
    'HN-3 HN-4 calls it $strength if $what',
    async ({ strength, before, after }) => {
      const found = await compared(spec(before), spec(after));
      if (strength === 'refused') expect(refusals(found)).not.toEqual([]);
      else expect(found.differences.map((one) => one.strength)).toEqual([strength]);
    },
  );

  it('HN-3 tells what is new, and what is gone', async () => {
    const one = spec(click);
    expect((await compared(one, one + titled('pays', click))).differences).toMatchObject([
      { strength: 'new', test: 'pays' },
    ]);
    expect((await compared(one + titled('pays', click), one)).differences).toMatchObject([
      { strength: 'weaker', test: 'pays' },
    ]);
  });

  it.each([
    [
      'helper in CommonJS',
      'tests/pay.js',
      "const { expect } = require('@playwright/test');\nexports.pay = async (page) => { await expect(page).toHaveURL('/paid'); };\n",
      "'/paid'",
      "'/'",
    ],
    [
      'global tear-down that no test calls',
      'tests/global-teardown.ts',
      "export default async () => {\n  if (process.argv.length > 9) throw new Error('left');\n};\n",
      '> 9',
      '> 99',
    ],
    [
      'default of a parameter',
      'tests/pay.ts',
      'export const pay = async (page, { ms = 4 } = {}) => { await page.clock.runFor(ms); };\n',
      'ms = 4',
      'ms = 9',
    ],
    [
      'tagged template',
      file,
      `${imports}const sql = tagOf('db');\ntest.beforeEach(async () => { await sql\`delete from tea\`; });\n`,
      'delete',
      'select',
    ],
    [
      'step of a feature that nothing loads',
      'behaviour/steps.ts',
      `${imports}Then('it says', async ({ page }) => { await expect(page.getByTestId('n')).toHaveText('1'); });\n`,
      "toHaveText('1')",
      'toBeVisible()',
    ],
    [
      'fixture',
      'tests/rows.ts',
      `${imports}export const rows = test.extend({ row: async ({ page }, use) => { await page.goto('/rows'); await use(page); } });\n`,
      '/rows',
      '/',
    ],
  ])('HN-3 sees a change of a %s', async (_what, path, before, from, to) => {
    expect(
      refusals(
        await compared(
          before,
          before.replace(from, () => to),
          path,
        ),
      ),
    ).not.toEqual([]);
  });

  it('HN-3 finds tests that a list defines in an arrow without braces', async () => {
    const each = (title: string) =>
      `${imports}['a'].forEach((name) => test(\`${title} \${name}\`, async () => {}));\n`;
    expect((await compared(each('buys'), each('pays'))).differences).toMatchObject([
      { strength: 'weaker', test: 'buys a' },
      { strength: 'new', test: 'pays a' },
    ]);
  });

  it('HN-3 follows a helper that is used as a value in a list', async () => {
    const list = (label: string) =>
      spec(
        `const rows = ['Tea', 'Milk'];\nfor (const row of rows) await expect(page.${label}).toContainText(row);`,
      );
    expect((await compared(list("getByRole('row')"), list("getByTestId('row')"))).differences).toEqual([]);
  });
});

describe('HN-4 a locator may change', () => {
  const changed = async (before: string, after: string) => compared(spec(before), spec(after));

  it('HN-4 and is returned with its file, its line and its step', async () => {
    const { differences, locatorChanges } = await changed(
      click,
      click.replace("getByRole('button')", "locator('#buy')"),
    );
    expect(differences).toEqual([]);
    expect(locatorChanges).toEqual([
      { old: 'getByRole("button")', now: 'locator("#buy")', file, line: 3, step: 'await ‹locator›.click()' },
    ]);
  });

  it('HN-4 also of something absent, if another step finds something by it', async () => {
    const row = (name: string) => `await page.${name}.click();\nawait expect(page.${name}).toBeHidden();`;
    expect(refusals(await changed(row("getByRole('row')"), row("getByTestId('row')")))).toEqual([]);
  });
});

const search = 'tests/search.spec.ts';
const text = project[search] ?? '';

it('HN-3 judges a spec with any part cut or repeated without crashing', async () => {
  const place = fc.nat(text.length);
  await fc.assert(
    fc.asyncProperty(place, place, place, async (from, to, at) => {
      const part = text.slice(Math.min(from, to), Math.max(from, to));
      await judged([[search, text.slice(0, at) + part + text.slice(at)]], 'ui-error');
      await judged([[search, text.replace(part, '')]], 'ui-error');
    }),
    { numRuns: 60 },
  );
});

it('HN-3 stops any assertions that are removed or moved behind a condition', async () => {
  const lines = text.split('\n');
  const asserting = lines.flatMap((line, index) => (line.includes('expect(') ? [index] : []));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...asserting), { minLength: 1 }),
      fc.boolean(),
      async (chosen, guarded) => {
        const changed = lines.flatMap((line, index) =>
          chosen.includes(index) ? (guarded ? [`  if (page) {${line}}`] : []) : [line],
        );
        expect(refusals(await judged([[search, changed.join('\n')]], 'ui-error'))).toContain('weaker');
      },
    ),
    { numRuns: 60 },
  );
});
