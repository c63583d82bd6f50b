import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readFaults } from '../../fixtures/shop/plant.mjs';
import type { AgentContext } from '../../src/agents/context.js';
import { healedShop, story, titlesOf } from '../rig/healed-shop.js';

/** The context of each failure that was given to an agent. */
async function contextsIn(dir: string): Promise<AgentContext[]> {
  const failures = path.join(dir, '.self-heal/latest/failures');
  const files = (await readdir(failures)).map((name) => path.join(failures, name, 'context.json'));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => null)));
  return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as AgentContext]));
}

let failing: Record<string, string[]>;
beforeAll(async () => {
  failing = Object.fromEntries((await readFaults()).map(({ name, tests }) => [name, tests]));
});

describe('the example', () => {
  it('HL-3 BF-2 BF-3 HL-7 heals four faults in a row, and starts no agent for a flake', async () => {
    const { dir, exitCode, report, stderr } = await healedShop(
      'build-then-rls',
      'undefined-id',
      'renamed-testid',
      'flaky',
    );
    expect(report.causes.map(story), stderr).toEqual([
      ['build-error', 'healed', 'built-in green'],
      ['database-error', 'healed', 'database green'],
      ['ui-error', 'healed', 'built-in green'],
      ['runtime-error', 'healed', 'debugger green'],
    ]);
    expect(report.causes.map((cause) => cause.parent !== null)).toEqual([false, true, true, true]);
    expect(titlesOf(report, 'flaky')).toEqual(failing['flaky']);
    // EV-6: the page that threw is a minified bundle.
    const thrown = (await contextsIn(dir)).find(({ diagnosis }) => diagnosis.category === 'runtime-error');
    expect(thrown?.diagnosis.facts.source).toMatch(/^src\/orders\.ts:\d+:\d+$/);
    expect(thrown?.source?.snippet).toMatch(
      /^> \d+ \| +h\('p', \{\}, `Delivery \$\{order\.delivery\.id\}`\),$/m,
    );
    expect(report.totals, stderr).toMatchObject({ tests: 18, failed: 0, notRun: 0, agentRuns: 2 });
    expect(exitCode, stderr).toBe(0);
  });

  it('HL-6 starts one agent for a cause that fails five tests; a failure without a recipe stays red', async () => {
    const { exitCode, report, stderr } = await healedShop('one-cause-five-tests', 'api-500', 'unfixable');
    const five = report.causes.find((cause) => cause.category === 'runtime-error');
    expect(five && story(five)).toEqual(['runtime-error', 'healed', 'debugger green']);
    const healed = report.tests.filter((test) => test.causeId === five?.id);
    expect(healed.map((test) => test.title.at(-1) ?? '').toSorted()).toEqual(failing['one-cause-five-tests']);
    expect(healed.filter((test) => test.sharedFix)).toHaveLength(4);
    const search = report.causes.find((cause) => cause.category === 'network-error');
    expect(search && story(search)).toEqual(['network-error', 'healed', 'debugger green']);
    expect(titlesOf(report, 'failed')).toEqual(failing['unfixable']);
    const unfixable = report.causes.find((cause) => cause.verdict === 'failed');
    expect(unfixable?.attempts.map((one) => one.files)).toEqual([[], [], []]);
    expect(exitCode, stderr).toBe(1);
  });

  it('CS-10 heals a build that breaks before any test as one failure, and the suite is green afterwards', async () => {
    const { exitCode, report, stderr } = await healedShop('build-error');
    expect(report.causes.map(story), stderr).toEqual([['build-error', 'healed', 'build-doctor green']]);
    expect(report.totals).toMatchObject({ tests: 18, passed: 18, agentRuns: 1 });
    expect(exitCode, stderr).toBe(0);
  });
});

it('HL-2 HL-3 heals row-level security first, and then the error behind it, which takes two attempts', async () => {
  const { exitCode, report, stderr } = await healedShop('missing-rls-policy', 'needs-two-attempts');
  expect(report.causes.map(story)).toEqual([
    ['database-error', 'healed', 'database green'],
    ['ui-error', 'healed', 'code-review still-failing', 'code-review green'],
  ]);
  const [first, second] = report.causes[1]?.attempts ?? [];
  expect([first?.end.kind, second?.end.kind]).toEqual(['still-failing', 'green']);
  expect(second?.files.map((file) => file.path).toSorted()).toEqual(['server/orders.mjs', 'src/orders.ts']);
  const number = report.tests.find((test) => test.title.at(-1) === 'tells the number of the order');
  expect(number).toMatchObject({ verdict: 'healed', causeIds: ['c1', 'c2'] });
  expect(titlesOf(report, 'not-run')).toEqual([]);
  expect(exitCode, stderr).toBe(0);
});
