import { describe, expect, it } from 'vitest';
import { agentsYaml, editingAgent, pageFiles, scratchProject, shopFiles } from '../rig/scratch-project.js';

const broken = { 'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>' };
const own = (verify: string) => ({
  'agents.yaml': agentsYaml(['node', 'fixer.mjs'], `verify: ${verify}`, 1),
});

/** A test that is red in the runs with the given numbers, counted in a file. */
const fickle = (red: string) => `
  import { test, expect } from '@playwright/test';
  import { appendFileSync, readFileSync } from 'node:fs';
  test('is fickle', () => {
    appendFileSync('.runs', '.');
    const run = readFileSync('.runs', 'utf8').length;
    expect(${red}.includes(run), 'red in run ' + run % 1).toBe(false);
  });`;

it('HL-3 heals what the first run did not get to because of `maxFailures`', async () => {
  const project = await scratchProject({
    ...shopFiles,
    ...broken,
    'playwright.config.ts': shopFiles['playwright.config.ts'].replace(
      'workers: 1',
      'workers: 1, maxFailures: 1',
    ),
    'note.txt': 'Clsed on Sundays',
    'tests/zoo.spec.ts': shopFiles['tests/shop.spec.ts']
      .replace("'buys'", "'says when it is closed'")
      .replace('page.html', 'note.txt')
      .replace("'Thanks'", "'Closed'"),
    ...own('{ regression: none, repeat: 1, flips: 0 }'),
    'fixer.mjs': editingAgent([
      ['page.html', 'Tanks', 'Thanks'],
      ['note.txt', 'Clsed', 'Closed'],
    ]),
  });
  const { exitCode, report } = await project.selfHeal(['run']);
  expect(report?.tests.map(({ verdict }) => verdict)).toEqual(['healed', 'healed']);
  expect(exitCode).toBe(0);
});

it('HN-7 HL-7 counts the tests that only the confirming run got to, since the set-up before them was flaky', async () => {
  const project = await scratchProject({
    ...shopFiles,
    '.gitignore': 'node_modules\ntest-results\n.runs\n',
    'playwright.config.ts': shopFiles['playwright.config.ts'].replace(
      'workers: 1',
      `workers: 1, projects: [
        { name: 'setup', testMatch: 'set-up.ts' },
        { name: 'shop', testMatch: '*.spec.ts', dependencies: ['setup'] },
      ]`,
    ),
    'tests/set-up.ts': fickle('[1]'),
    'tests/skipped.spec.ts': `import { test } from '@playwright/test';\ntest.skip('is left out', () => {});`,
    ...own('{ regression: none }'),
  });
  const { exitCode, report } = await project.selfHeal(['run']);
  expect(report?.tests.map(({ title, verdict }) => [title.at(-1), verdict])).toEqual([
    ['is fickle', 'flaky'],
    ['buys', 'passed'],
    ['is left out', 'skipped'],
  ]);
  expect(report?.totals).toMatchObject({ passed: 1, flaky: 1, skipped: 1, notRun: 0 });
  expect(exitCode).toBe(0);
});

describe('the proof of a heal', () => {
  it('HN-5 RP-1 is red twice, green three times, red with the fix taken out, and green with it put back', async () => {
    const files = { ...broken, 'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]) };
    const project = await scratchProject({ ...shopFiles, ...files, ...own('{ regression: none }') });
    const { exitCode, stderr, report } = await project.selfHeal(['run']);
    expect(report?.causes).toMatchObject([{ verdict: 'healed' }]);
    expect(report?.causes[0]?.proof.join(' ')).toBe('red red green green green red green');
    expect(stderr).toContain('proof   red red | green green green | red | green');
    expect(await project.read('page.html')).toContain('Thanks');
    expect(exitCode).toBe(0);
  });

  it('HN-5 HN-7 exposes a flaky test that turns green after a useless change, and the change is reverted', async () => {
    const files = {
      '.gitignore': 'node_modules\ntest-results\n.runs\n',
      'tests/shop.spec.ts': fickle('[1, 2]'),
      'fixer.mjs': editingAgent([['page.html', 'Buy', 'Buy now']]),
    };
    const project = await scratchProject({ ...shopFiles, ...files, ...own('{ regression: none }') });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(report?.tests).toMatchObject([{ verdict: 'flaky' }]);
    expect(report?.causes).toMatchObject([{ verdict: 'flaky', attempts: [{ end: { kind: 'flaky' } }] }]);
    expect(await project.read('page.html')).toBe(shopFiles['page.html']);
    expect(exitCode).toBe(0);
  });
});

it('HN-5 HN-6 a worker’s teardown that fails is healed, and proven with the tests that use the worker’s fixture', async () => {
  const spec = `
    import { test as base, expect } from '@playwright/test';
    import { existsSync, readFileSync, writeFileSync } from 'node:fs';
    const test = base.extend<{}, { order: string }>({ order: [async ({}, use) => {
      writeFileSync('.order', '');
      await use('.order');
      if (!readFileSync('page.html', 'utf8').includes('Thanks')) throw new Error('the order is still open');
    }, { scope: 'worker' }] });
    base('is quick', () => {});
    test('orders', ({ order }) => expect(existsSync(order)).toBe(true));`;
  const files = {
    ...broken,
    '.gitignore': 'node_modules\ntest-results\n.order\n',
    'tests/shop.spec.ts': spec,
    'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]),
  };
  const project = await scratchProject({ ...shopFiles, ...files, ...own('{ repeat: 2 }') });
  const { exitCode, report } = await project.selfHeal(['run']);
  expect(report?.causes).toMatchObject([{ verdict: 'healed', tests: [] }]);
  expect(report?.causes[0]?.proof.join(' ')).toBe('red red green green red green');
  expect(report?.tests.map(({ verdict }) => verdict)).toEqual(['passed', 'passed']);
  expect(exitCode).toBe(0);
});

it('HN-3 RP-2 a reason for the failure is named for the reviewer if it is still there', async () => {
  const script = "out.textContent = orders[0].name + ', Thanks';";
  const page = `<button id="buy">Buy</button> <p id="out"></p> <script>const orders = []; ${script}</script>`;
  const fixer = editingAgent([['page.html', '<p id="out"></p>', '<p id="out">Thanks</p>']]);
  const files = { 'page.html': page, 'fixer.mjs': fixer };
  const project = await scratchProject({ ...pageFiles, ...files, ...own('{ level: quick }') });
  const { report } = await project.selfHeal(['run']);
  const notes = [
    { file: 'tests/shop.spec.ts', says: expect.stringContaining('still says: Uncaught TypeError') },
  ];
  expect(report?.causes).toMatchObject([{ verdict: 'healed', attempts: [{ notes }] }]);
});

describe('the regression run', () => {
  const other = `import { test, expect } from '@playwright/test';
    import { price } from '../price';
    test('keeps its price', () => expect(price).toBe(9));`;
  const files = {
    ...broken,
    'price.ts': 'export const price = 9;\n',
    'tests/price.spec.ts': other,
    'fixer.mjs': editingAgent([
      ['page.html', 'Tanks', 'Thanks'],
      ['price.ts', '9', '0'],
    ]),
  };

  it('HN-6 reverts a fix that breaks another test, and the cause names that test', async () => {
    const project = await scratchProject({ ...shopFiles, ...files, ...own('{ repeat: 1, flips: 0 }') });
    const { exitCode, stderr, report } = await project.selfHeal(['run']);
    expect(report?.regression?.broke).toMatchObject([{ causeId: 'c1', tests: [expect.any(String)] }]);
    expect(report?.causes).toMatchObject([{ verdict: 'failed', attempts: [{ end: { kind: 'taken-out' } }] }]);
    expect(report?.causes[0]?.reason).toContain('keeps its price');
    expect(report?.tests.map((test) => [test.title.at(-1), test.verdict]).toSorted()).toEqual([
      ['buys', 'failed'],
      ['keeps its price', 'passed'],
    ]);
    expect(await project.read('price.ts')).toContain('price = 9');
    expect(await project.read('page.html')).toContain('Tanks');
    expect(stderr).toContain('c1 broke other tests');
    expect(exitCode).toBe(1);
  });

  it('HN-6 HL-7 keeps a fix with which a test passes that is marked to fail, and says that its mark has to go', async () => {
    const known = `import { test, expect } from '@playwright/test';
      import { readFileSync } from 'node:fs';
      test.fail('thanks, one day', () => {
        expect(readFileSync('page.html', 'utf8')).toContain('Thanks');
      });`;
    const project = await scratchProject({
      ...shopFiles,
      ...broken,
      'tests/known.spec.ts': known,
      'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]),
      ...own('{ repeat: 1, flips: 1 }'),
    });
    const { exitCode, stderr, report } = await project.selfHeal(['run']);
    expect(report?.causes, stderr).toMatchObject([
      { verdict: 'healed' },
      { verdict: 'failed', attempts: [], reason: expect.stringContaining('test.fail') as string },
    ]);
    expect(report?.regression?.broke).toEqual([]);
    expect(await project.read('page.html')).toContain('Thanks');
    // A person has to remove the mark.
    expect(exitCode).toBe(3);
  });
});
