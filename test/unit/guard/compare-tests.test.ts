import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Edit, guardCases, project, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judgeChange } from '../../../src/guard/judge.js';
import { jsonLines } from '../../rig/json-lines.js';
import { judged, leftOut, refusals } from './judged.js';

const file = 'tests/shop.spec.ts';
const imports = "import { test, expect } from '@playwright/test';\n";
const titled = (title: string, body: string) => `test('${title}', async ({ page }) => {\n${body}\n});\n`;
const spec = (body: string) => imports + titled('buys', body);

/** What the guard says about a spec that was changed. */
const compared = (before: string, after: string, path = file) =>
  judged([[path, after]], 'ui-error', [[path, before]]);
/** A change of a test's steps; what `enters` is not asked of anybody. */
interface ChangedStep {
  readonly strength: 'weaker' | 'different' | 'enters';
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

const click = "await page.getByRole('button').click();";
const status = (matcher: string) => `await expect(page.getByRole('status')).${matcher};`;

describe('HN-3 the old and new syntax trees of a test are compared', () => {
  it('HN-3 shows the lines before and after, with title, file and line', async () => {
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
        before: ["await expect(page.getByRole('status')).toHaveText('Paid');"],
        after: ["await expect(page.getByRole('status')).toHaveText('Open');"],
        why: null,
      },
    ]);
  });

  it.each(jsonLines<ChangedStep>(import.meta.dirname, 'changed-steps.jsonl'))(
    'HN-3 HN-4 a change is $strength if $what',
    async ({ strength, before, after }) => {
      const found = await compared(spec(before), spec(after));
      expect(new Set(refusals(found))).toEqual(new Set(strength === 'enters' ? [] : [strength]));
      expect(found.locatorChanges.length > 0).toBe(strength === 'enters');
    },
  );

  it.each([
    [
      'global tear-down that no test calls',
      'tests/global-teardown.ts',
      "export default async () => {\n  if (process.argv.length > 9) throw new Error('left');\n};\n",
      '> 9',
      '> 99',
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
  ])('HN-3 sees a change to a %s', async (_what, path, before, from, to) => {
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
});

it('HN-4 returns a locator that may change with its file and line', async () => {
  const { differences, locatorChanges } = await compared(
    spec(click),
    spec(click.replace("getByRole('button')", "locator('#buy')")),
  );
  expect(differences).toEqual([]);
  expect(locatorChanges).toEqual([
    { old: "page.getByRole('button')", now: "page.locator('#buy')", file, line: 3 },
  ]);
});

it('HN-4 follows names across files to a page object whose elements a test counts', async () => {
  const page = 'tests/pages/list-page.ts';
  const object = (what: string) => `export class ListPage {
  readonly rows;
  constructor(page) {
    this.rows = page.${what};
  }
}
`;
  const given = (use: string): Edit[] => [
    [page, object("locator('li')")],
    [
      file,
      `import { ListPage } from './pages/list-page';\n${spec(`const list = new ListPage(page);\n${use}`)}`,
    ],
  ];
  const asked = async (use: string) =>
    (await judged([[page, object("getByRole('listitem')")]], 'ui-error', given(use))).differences;
  expect(await asked('await list.rows.click();')).toEqual([]);
  expect(await asked('await expect(list.rows).toHaveCount(2);')).toMatchObject([
    { file: page, line: 4, why: 'its elements are counted or listed' },
  ]);
  expect(await asked('')).toMatchObject([{ why: 'nothing shows how it is used' }]);
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

it('HN-3 rejects removing any assertion or moving it behind a condition', async () => {
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

const of = (kind: 'cheat' | 'honest') => guardCases.filter((one) => one.kind === kind);

describe('HN-3 HN-4 rejects cheats and keeps honest fixes', () => {
  it.each(of('cheat'))('HN-3 rejects $what ($category)', async ({ edits, category, found }) => {
    const findings = await judged(edits, category, found);
    expect([...refusals(findings), ...findings.cut.map(({ file }) => file)]).not.toEqual([]);
  });

  it.each(of('honest'))('HN-3 keeps $what ($category)', async ({ edits, category, found }) => {
    const findings = await judged(edits, category, found);
    // What is asked of a person is proven first, so that no honest fix is lost.
    expect(findings.violations).toEqual([]);
    expect(edits.map(([file]) => file).filter((file) => !leftOut(findings).includes(file))).not.toEqual([]);
  });
});

describe('limits', () => {
  const imports = "import { test, expect } from '@playwright/test';\n";
  const file = 'tests/large.spec.ts';

  /** What is refused in a change to a spec. */
  async function judged(before: string, after: string): Promise<string[]> {
    const findings = await judgeChange(requestOf([[file, after]], 'ui-error', [[file, before]]));
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

  it('HN-3 rejects code that is nested too deeply, and compares deep code down to its last value', async () => {
    const nested = (depth: number, inner: string) => '[0, '.repeat(depth) + inner + ']'.repeat(depth);
    const text = (value: string) => `${imports}test('x', () => { expect([]).toEqual(${value}); });\n`;
    expect(await judged(text(nested(90, '1')), text(nested(90, '2')))).toEqual(['different']);
    const sum = (count: number) => `${'1 + '.repeat(count)}1`;
    expect(await judged(text(sum(5000)), text(sum(5001)))).toContainEqual(
      expect.stringContaining('nested too deeply'),
    );
  });

  it('HN-3 rejects a test file that is not UTF-8', async () => {
    const request = requestOf([[file, spec(steps.slice(0, 2))]], 'ui-error', [
      [file, spec(steps.slice(0, 2))],
    ]);
    const bytes = Buffer.from(spec(["await page.getByText('Größe').click();"]), 'latin1');
    const after = {
      ...request.after,
      readFiles: async (paths: readonly string[]) =>
        new Map(
          [...(await request.after.readFiles(paths))].map(([path, own]) => [
            path,
            path === file ? bytes : own,
          ]),
        ),
    };
    expect(leftOut(await judgeChange({ ...request, changes: [{ path: file }], after }))).toEqual([file]);
  });
});
