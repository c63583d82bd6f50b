import { expect, it } from 'vitest';
import { healedShop, story, titlesOf } from '../rig/healed-shop.js';

it('HL-2 HL-3 a fix behind a fix: row-level security first, then an error that takes two attempts', async () => {
  const { exitCode, report, stderr } = await healedShop('missing-rls-policy', 'needs-two-attempts');
  expect(report.causes.map(story)).toEqual([
    ['database-error', 'healed', 'database green'],
    ['ui-error', 'healed', 'code-review still-failing', 'code-review green'],
  ]);
  const [first, second] = report.causes[1]?.attempts ?? [];
  expect([first?.takenBack, second?.takenBack]).toEqual([true, false]);
  expect(second?.files.map((file) => file.path).toSorted()).toEqual(['server/orders.mjs', 'src/orders.ts']);
  const number = report.tests.find((test) => test.title.at(-1) === 'tells the number of the order');
  expect(number).toMatchObject({ verdict: 'healed', causeIds: ['c1', 'c2'] });
  expect(titlesOf(report, 'not-run')).toEqual([]);
  expect(exitCode, stderr).toBe(0);
});
