import { expect, it } from 'vitest';
import { findExcess, readBudget } from '../../scripts/budget.mjs';
import { findMismatches, readRequirements, readTests } from '../../scripts/requirements.mjs';

const document = 'requirements.md';

it('PJ-1 reads requirements from list items with an id, and which ones are not built', () => {
  const page = ['# What it must do', '- AA-1 heals', '  as AA-9 does', '- AA-2 (not built) heals faster'];
  expect(readRequirements(page.join('\n'))).toEqual([
    { id: 'AA-1', built: true, line: 2 },
    { id: 'AA-2', built: false, line: 4 },
  ]);
});

it('PJ-1 finds tests in any form, and ignores suites, steps and strings', () => {
  const source = [
    "it('AA-1 plain', () => {});",
    "  it.each([['AA-2']])('AA-1 of rows %s', async (row) => {});",
    'test.runIf(process.platform)(',
    '  `AA-1, AA-2 of a template ${1}`,',
    '  function () {});',
    "describe('AA-3', () => { test.describe('AA-3', () => { test.step('AA-3', async () => {}); }); });",
    "const text = `it('AA-3', () => {})`; test.setTimeout(6_000);",
    'it(title, { timeout: 1 }, () => {});',
  ].join('\n');
  expect(readTests('a.test.ts', source)).toEqual([
    { file: 'a.test.ts', line: 1, title: 'AA-1 plain' },
    { file: 'a.test.ts', line: 2, title: 'AA-1 of rows %s' },
    { file: 'a.test.ts', line: 3, title: 'AA-1, AA-2 of a template %s' },
    { file: 'a.test.ts', line: 8, title: '%s' },
  ]);
});

it('PJ-1 reports requirements without a test, and tests without a known requirement', () => {
  const requirements = readRequirements('- AA-1 a\n- AA-2 b\n- AA-3 (not built) c\n- AA-4 (not built) d');
  const titles = ['AA-1, AA-9 says both', 'AA-3 is built', 'heals (AA-2)', '%s'];
  const tests = titles.map((title, index) => ({ file: 'a.test.ts', line: index + 1, title }));
  expect(findMismatches(requirements, { document, tests })).toEqual([
    'requirements.md:2: no test has a title that begins with AA-2',
    'requirements.md:3: AA-3 has a test, and is said not to be built',
    'a.test.ts:1: AA-9 is not in requirements.md',
    'a.test.ts:3: the title does not begin with the id of a requirement',
    'a.test.ts:4: the title does not begin with the id of a requirement',
  ]);
});

it('PJ-1 reports a title of more than 100 characters', () => {
  const requirements = readRequirements('- AA-1 a');
  const title = `AA-1 ${'heals '.repeat(16)}`;
  const tests = [title.slice(0, 100), title].map((text, at) => ({
    file: 'a.test.ts',
    line: at + 1,
    title: text,
  }));
  expect(findMismatches(requirements, { document, tests })).toEqual([
    'a.test.ts:2: the title has 101 characters, 100 at most',
  ]);
});

it('PJ-3 names folders that exceed the table or are missing from it', () => {
  const budget = readBudget('| folder | lines |\n| --- | --: |\n| `a/`    | 1,200 |\n| `old/`  |    10 |\n');
  const lines = (a: number) => new Map([['a/', a]]);
  expect(findExcess(budget, new Map([...lines(1200), ['old/', 1]]))).toEqual([]);
  expect(findExcess(budget, new Map([...lines(1201), ['new/', 1]]))).toEqual([
    expect.stringMatching(/^src\/a\/ has 1201 lines, and may have 1200/),
    expect.stringMatching(/^src\/new\/ has no row/),
    expect.stringMatching(/row for src\/old\//),
  ]);
});
