import { realpathSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import type { PageElement } from '../../../../src/model/evidence.js';
import { fixErrors } from '../../../../src/clients/fixer/code-fixes.js';
import { type DriftEvidence, proposeLocatorFix } from '../../../../src/clients/fixer/drifted-locator.js';
import { updateExpectations } from '../../../../src/clients/fixer/update-expectations.js';
import { listBlamedHunks, createFixer } from '../../../../src/clients/fixer/propose.js';
import { findRemovingChanges, parseHunks, findRename } from '../../../../src/clients/fixer/renames.js';
import { addMissingWaits } from '../../../../src/clients/fixer/missing-waits.js';
import { writeInto } from '../../../rig/agent-workspace.js';
import {
  aBlame,
  aBlamedHunk,
  aCause,
  aDiagnosed,
  aDiagnosis,
  aTest,
  aTestFailure,
  anError,
  anEvidence,
} from '../../../rig/builders.js';
import { gitRepository } from '../../../rig/git-repository.js';
import { jsonLines } from '../../../rig/json-lines.js';
import { tempDir } from '../../../rig/temp-dir.js';

const element = (attributes: Record<string, string>, over: Partial<PageElement> = {}): PageElement => ({
  tag: 'button',
  text: '',
  label: '',
  attributes,
  ...over,
});
const spec = '/p/tests/a.spec.ts';
const pageObject = '/p/tests/page.ts';

interface Given extends Partial<DriftEvidence> {
  /** What the app's change turned the name into; null if no change is known. */
  readonly to?: string | null;
  readonly elements?: readonly PageElement[];
  readonly aria?: string;
  readonly code?: string;
  /** The text of a page object. */
  readonly other?: string;
  readonly inApp?: boolean;
}

async function textAfter(given: Given): Promise<string[] | null> {
  const {
    to: newName = 'buy',
    elements = [element({ 'data-testid': 'buy' })],
    aria = '',
    inApp: isInApp = false,
  } = given;
  const {
    locator = "getByTestId('pay')",
    code = `await page.${locator}.click();`,
    other = '',
    ...over
  } = given;
  const proposal = await proposeLocatorFix({
    locator,
    isExpectation: false,
    foundElement: false,
    page: { elements, ariaSnapshot: aria },
    frames: [{ file: spec, line: 1 }],
    findRename: async (_, candidates) =>
      newName !== null && candidates.includes(newName) ? { newName, file: 'page.html' } : null,
    searchCode: async () => ({
      tests: [
        { file: spec, text: code },
        { file: pageObject, text: other },
      ],
      isInApp,
    }),
    ...over,
  });
  return proposal && proposal.files.map(({ after }) => after);
}

describe('BF-2 a locator follows the app', () => {
  it.each<[string, string, Given]>([
    ['test id', "getByTestId('pay')", {}],
    ['role name', "getByRole('button', { name: 'pay' })", { aria: '- button "buy"\n- link "buy"' }],
    ['text', "getByText('pay')", { elements: [element({}, { text: 'buy' })] }],
    ['label', "getByLabel('pay')", { elements: [element({}, { label: 'buy' })] }],
    [
      'name of an inner element',
      "getByRole('dialog', { name: 'Order' }).getByTestId('pay')",
      { aria: '- dialog "Order"' },
    ],
  ])('BF-2 gets the new %s', async (_, locator, given) => {
    expect(await textAfter({ locator, ...given })).toEqual([
      `await page.${locator.replace('pay', 'buy')}.click();`,
    ]);
  });

  it('BF-2 gets a new test id in all tests that use the old one, if the app no longer uses it', async () => {
    const other = "const a = p.getByTestId('pay'); const b = p.getByTestId('pay-later');";
    const here = "await page.getByTestId('buy').click();";
    expect(await textAfter({ other })).toEqual([here, other.replace("'pay'", "'buy'")]);
    expect(await textAfter({ other, inApp: true })).toEqual([here]);
  });

  const text = { locator: "getByText('pay')", elements: [element({}, { text: 'buy' })] };
  it.each<[string, Given]>([
    ['no change to the app shows the new name', { to: null }],
    ['the page does not have the new name', { elements: [element({ 'data-testid': 'other' })] }],
    [
      'two elements have the new name',
      { elements: ['buy', 'buy'].map((id) => element({ 'data-testid': id })) },
    ],
    [
      'an element still has the old name',
      { elements: ['pay', 'buy'].map((id) => element({ 'data-testid': id })) },
    ],
    ['the locator found its element', { foundElement: true }],
    ['the test expects this text', { ...text, isExpectation: true }],
    ['the element is in a frame', { locator: "frameLocator('iframe').getByTestId('pay')" }],
  ])('BF-2 proposes nothing if %s', async (_, given) => {
    expect(await textAfter(given)).toBeNull();
  });
});

const hunk = (old: string[], now: string[], file = 'src/page.html') => ({ file, old, now });
const field = (id: string, testId: string) => `<input id="${id}" name="pay" data-testid="${testId}">`;

describe('the new name in a change', () => {
  it.each([
    ['an attribute', '<b data-testid="pay">', '<b data-testid="checkout-pay">', 'pay', 'checkout-pay'],
    ['one of several attributes', field('pay', 'pay'), field('pay', 'buy'), 'pay', 'buy'],
    ['a text', '  <button>Sign in</button>', '<button>Log in</button>', 'Sign in', 'Log in'],
    [
      'one of two changes in a line',
      '<b class="small" data-testid="pay">Pay</b>',
      '<b class="large" data-testid="buy">Pay</b>',
      'pay',
      'buy',
    ],
  ])('BF-2 is found for %s', (_, before, after, name, newName) => {
    expect(findRename([hunk([before], [after])], name, ['other', newName])).toEqual({
      newName,
      file: 'src/page.html',
    });
  });

  it.each([
    ['removed', [hunk(['<b id="pay">'], [])]],
    ['moved', [hunk(['<b id="pay">', '<i>'], ['<b id="buy">']), hunk([], ['  <b id="pay">'])]],
    ['part of another name', [hunk(['<b id="pay-later">'], ['<b id="buy">'])]],
    ['given a name that the page does not have', [hunk(['<b id="pay">'], ['<b id="purchase">'])]],
  ])('BF-2 is not given for a name that was %s', (_, hunks) => {
    expect(findRename(hunks, 'pay', ['buy', 'other'])).toBeNull();
  });

  it('BF-2 is read from git’s output, including lines that look like its headers', () => {
    const diff = [
      'diff --git a/db/x.sql b/db/x.sql',
      '--- a/db/x.sql',
      '+++ b/db/x.sql',
      '@@ -1 +1,2 @@',
      '--- a comment of SQL',
      '+++ b',
      '+CREATE TABLE x;',
      'diff --git a/new.sql b/new.sql',
      'deleted file mode 100644',
      '--- a/new.sql',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      '\\ No newline at end of file',
      '* Unmerged path c.sql',
    ].join('\n');
    expect(parseHunks(diff)).toEqual([
      { file: 'db/x.sql', old: ['-- a comment of SQL'], now: ['++ b', 'CREATE TABLE x;'] },
      { file: 'new.sql', old: ['x'], now: [] },
    ]);
  });
});

const header = (text: string) => ({ 'src/header.ts': `${text}\n` });

describe('the change that removed a name', () => {
  it('BF-2 is the newest commit that removed it, not one that added it or has a longer name', async () => {
    const states = [
      header("id('pay');"),
      header("id('checkout-pay');"),
      { 'src/other.ts': "id('pay-later');\n" },
    ];
    const { dir } = gitRepository(...states);
    expect(await findRemovingChanges('pay', dir, [])).toEqual([
      { file: 'src/header.ts', old: ["id('pay');"], now: ["id('checkout-pay');"] },
    ]);
    expect(await findRemovingChanges('never-there', dir, [])).toEqual([]);
  });

  it('BF-2 prefers the blamed change, but ignores whole files in it, which may have moved', async () => {
    const { dir } = gitRepository(header("id('pay');"), header("id('buy');"));
    const blamed = aBlamedHunk({ file: '../src/page.ts', old: ["id('pay')"], now: ["id('order')"] });
    const places = { cwd: path.join(dir, 'web'), root: dir };
    const renamed = (whole: boolean) =>
      findRemovingChanges(
        'pay',
        dir,
        listBlamedHunks({ blame: aBlame({ hunks: [{ ...blamed, whole }] }) }, places),
      );
    expect(await renamed(false)).toMatchObject([{ file: 'src/page.ts', now: ["id('order')"] }]);
    expect(await renamed(true)).toMatchObject([{ file: 'src/header.ts', now: ["id('buy');"] }]);
  });
});

it.each([
  ['everywhere if the app has no such id any more', '', "getByTestId('buy')"],
  ['in the failing step alone if the app still has it', 'id("pay");\n', "getByTestId('pay')"],
])('BF-2 renames a test id in the tests %s', async (_, more, inPageObject) => {
  const { dir } = gitRepository(
    {
      'src/a.html': '<b data-testid="pay">',
      'src/b.js': more,
      'tests/a.spec.ts': "import './page';\npage.getByTestId('pay');\n",
      'tests/page.ts': "page.getByTestId('pay');\n",
    },
    { 'src/a.html': '<b data-testid="buy">' },
  );
  const file = path.join(dir, 'tests/a.spec.ts');
  const error = { ...anError('Error: timeout'), location: { file, line: 2, column: 1 } };
  const lead = aDiagnosed({
    failure: aTestFailure({ test: { ...aTest(), location: { file, line: 1, column: 1 } }, errors: [error] }),
    diagnosis: aDiagnosis({ facts: { ...aDiagnosis().facts, locator: "getByTestId('pay')" } }),
    evidence: anEvidence({
      ariaSnapshot: '',
      elements: [{ tag: 'b', text: '', label: '', attributes: { 'data-testid': 'buy' } }],
    }),
  });
  const propose = createFixer({ cwd: dir, root: dir, isTest: (file) => file.startsWith('tests/') });
  const files = (await propose(aCause({ lead })))?.files ?? [];
  const after = new Map(files.map(({ file, after: text }) => [path.basename(file), text]));
  expect(after.get('a.spec.ts')).toBe("import './page';\npage.getByTestId('buy');\n");
  expect(after.get('page.ts') ?? "page.getByTestId('pay');\n").toBe(`page.${inPageObject};\n`);
});

const compilerOptions = {
  strict: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  types: [],
};

function fixed(files: Record<string, string>, wrong = 'src/a.ts'): Record<string, string> | null {
  const dir = realpathSync(tempDir());
  writeInto(dir, { 'tsconfig.json': JSON.stringify({ compilerOptions, include: ['src'] }), ...files });
  const fixed = fixErrors(ts, [path.join(dir, wrong)]);
  const named = (file: string) => path.relative(dir, file).replaceAll(path.sep, '/');
  return fixed && Object.fromEntries(fixed.map(({ file, after }) => [named(file), after]));
}

const order = 'export interface Order { totalCents: number; id: string }\n';

describe('BF-3 the only code fix that TypeScript offers', { timeout: 60_000 }, () => {
  it.each([
    [
      'a missing import',
      'export const f = (o: Order) => o.id;\n',
      /import (?:type )?\{ Order \} from ["']\.\/o["']/,
    ],
    [
      'a missing await',
      'const get = async () => ({ id: 1 });\nexport async function f() {\n  return get().id;\n}\n',
      '(await get()).id',
    ],
  ])('BF-3 fixes %s', (_, text, expected) => {
    const after = fixed({ 'src/o.ts': order, 'src/a.ts': text })?.['src/a.ts'];
    if (typeof expected === 'string') expect(after).toContain(expected);
    else expect(after).toMatch(expected);
  });

  it.each([
    [
      'a missing property whose value is unknown',
      "import type { Order } from './o';\nexport const f = (): Order => ({ id: 'a' });\n",
    ],
    [
      'a name that is like another one',
      "import type { Order } from './o';\nexport const f = (o: Order) => o.totalCent;\n",
    ],
    [
      'an error next to one that it can fix',
      "export const f = (o: Order) => o.id;\nexport const g: number = 'x';\n",
    ],
  ])('BF-3 leaves alone %s', (_, text) => {
    const twice = { 'src/b.ts': 'export const both = 1;\n', 'src/c.ts': 'export const both = 2;\n' };
    expect(fixed({ 'src/o.ts': order, ...twice, 'src/a.ts': text })).toBeNull();
  });
});

describe('settled steps', () => {
  const head = "import { test, expect } from '@playwright/test';\n";
  const spec = (body: string) =>
    `${head}test('buys', async ({ page }) => {\n  ${body}\n});\ntest('other', async ({ page }) => {\n  page.click('a');\n});\n`;

  /** The body of the test after the built-in fixer; null without a fix. */
  async function settled(body: string): Promise<string | null> {
    const file = path.join(tempDir(), 'shop.spec.ts');
    await writeFile(file, spec(body));
    const test = { ...aTest('buys'), location: { file, line: 2, column: 1 } };
    const fix = await addMissingWaits({ lead: aDiagnosed({ failure: aTestFailure({ test }) }) });
    const after = fix?.files[0]?.after;
    if (after === undefined) return null;
    expect(after.slice(after.indexOf("\n});\ntest('other'"))).toBe(
      spec('').slice(spec('').indexOf("\n});\ntest('other'")),
    );
    return after.split('\n')[2]?.trim() ?? null;
  }

  it.each([
    ["page.locator('#a').click();", "await page.locator('#a').click();"],
    [
      "expect(page.getByRole('status')).toHaveText('Paid');",
      "await expect(page.getByRole('status')).toHaveText('Paid');",
    ],
    [
      "expect(await page.locator('#a').textContent()).toBe('Paid');",
      'await expect(page.locator(\'#a\')).toHaveText("Paid");',
    ],
    ["expect(await page.locator('#a').count()).toBe(2);", "await expect(page.locator('#a')).toHaveCount(2);"],
    ["expect(page.url()).toBe('/paid');", 'await expect(page).toHaveURL("/paid");'],
    ["await page.locator('#a').click();", null],
    ["const a = page.locator('#a').click();", null],
  ])('BF-6 adds a missing wait to a flaky test: %s', async (body, after) => {
    expect(await settled(body)).toBe(after);
  });
});

/** Returns what a test's second line becomes after it failed with these messages, as Playwright 1.57 prints them; null if nothing is certain. */
async function followed(line: string, ...messages: string[]): Promise<string | null> {
  const file = path.join(tempDir(), 'a.spec.ts');
  writeFileSync(file, `// A test.\n${line}\n`);
  const errors = messages.map((message) => anError(message, { location: { file, line: 2, column: 1 } }));
  const lead = aDiagnosed({ failure: aTestFailure({ errors }) });
  const proposal = await updateExpectations(aCause({ lead }));
  expect(proposal === null || proposal.files.length === 1).toBe(true);
  return proposal?.files[0]?.after.split('\n').slice(1, -1).join('\n') ?? null;
}

const failed = (matcher: string, values: string) =>
  `Error: expect(locator).${matcher}(expected) failed\n\n${values}\n\nCall log:\n  - waiting for getByTestId('b')\n`;
const values = (expected: string, received: string) =>
  `Locator:  getByTestId('b')\nExpected: ${expected}\nReceived: ${received}\nTimeout:  700ms`;

/** A failed assertion, what Playwright told of it, and what becomes of it: null if more than a literal differs. */
interface Failed {
  readonly line: string;
  readonly told: string;
  readonly after: string | null;
}

it.each(jsonLines<Failed>(import.meta.dirname, 'updated-expectations.jsonl'))(
  'BL-6 the tests may follow the page if only a literal differs: $what',
  async ({ line, told, after }) => {
    const matcher = /\.(to\w+)\(/.exec(line)?.[1] ?? '';
    expect(await followed(line, failed(matcher, told))).toBe(after);
  },
);

it('BL-6 the tests do not follow the page if another error or another page contradicts it', async () => {
  const line = "await expect(b).toHaveText('a');";
  const message = failed('toHaveText', values('"a"', '"b"'));
  expect(await followed(line, message, message)).toBe("await expect(b).toHaveText('b');");
  expect(await followed(line, message, 'Error: boom')).toBeNull();
  expect(await followed(line, message, failed('toHaveText', values('"a"', '"c"')))).toBeNull();
});
