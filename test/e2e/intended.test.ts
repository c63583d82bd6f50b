import { execa } from 'execa';
import { expect, it } from 'vitest';
import { agentsYaml, editingAgent, scratchProject, shopFiles } from '../rig/scratch-project.js';

type Edit = readonly [from: string, to: string];

const page = `<h1>Shop</h1>
<p>Your basket is empty</p>
<b>$3.00</b>
<ol><li>Tea</li><li>Coffee</li></ol>
<button>Buy</button>
<a href="/basket">Basket</a>
<p>Free shipping</p>
`;

/** What an author changed on purpose, and what the test still expects. */
const changes: [what: string, edit: Edit][] = [
  ['a friendlier text', ['Your basket is empty', 'Nothing in here yet']],
  ['a price format', ['$3.00', '3,00 €']],
  ['an order', ['<li>Tea</li><li>Coffee</li>', '<li>Coffee</li><li>Tea</li>']],
  ['a count', ['<li>Coffee</li></ol>', '<li>Coffee</li><li>Milk</li></ol>']],
  ['a label', ['Buy', 'Order now']],
  ['a removed element', ['<p>Free shipping</p>\n', '']],
  ['a route', ['/basket', '/cart']],
];

/** A project whose last commit made this change on purpose, and a test that reads the page and wants it as it was. */
async function shopAfter([from, to]: Edit, agent: readonly Edit[], verify = '') {
  const project = await scratchProject({
    ...shopFiles,
    'page.html': page,
    'tests/shop.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { readFileSync } from 'node:fs';
      test('is as it was', () => {
        expect(readFileSync('page.html', 'utf8').includes(${JSON.stringify(from)}), 'the page').toBe(true);
      });`,
    'fixer.mjs': editingAgent(agent.map(([old, now]) => ['page.html', old, now] as const)),
    'agents.yaml': agentsYaml(
      ['node', 'fixer.mjs'],
      `verify: { repeat: 2, flips: 0, regression: none ${verify} }`,
    ),
  });
  const git = (...args: string[]) =>
    execa('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], { cwd: project.dir });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '-m', 'shop');
  await git('checkout', '--quiet', '-b', 'words');
  await project.write({ 'page.html': page.replace(from, to) });
  await git('commit', '--quiet', '-a', '-m', 'Friendlier words');
  return project;
}

it.each(changes)(
  'BL-6 CL-5 %s that its author meant is not undone: the fix waits for a person',
  async (_, edit) => {
    const [from, to] = edit;
    const changed = page.replace(from, to);
    const back: Edit =
      to === ''
        ? ['<a href="/basket">Basket</a>\n', '<a href="/basket">Basket</a>\n<p>Free shipping</p>\n']
        : [to, from];
    const project = await shopAfter(edit, [back]);
    const { exitCode, report, stderr } = await project.selfHeal(['run']);
    expect(report?.causes, stderr).toMatchObject([{ verdict: 'escalated' }]);
    expect(report?.causes[0]?.attempts).toMatchObject([{ judged: 'offered', offers: 'app', reverted: true }]);
    expect(report?.causes[0]?.reason).toMatch(/undoes all of [0-9a-f]{7} "Friendlier words"/);
    expect(await project.read('page.html')).toBe(changed);
    expect(report?.totals.agentRuns).toBe(1);
    expect(exitCode).toBe(3);
  },
);

it('BL-6 a fix that keeps the change and mends it is healed as before', async () => {
  const project = await shopAfter(
    ['Your basket is empty', 'Your bsket is empty now'],
    [['bsket is empty now', 'basket is empty, now']],
  );
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect(report?.causes, stderr).toMatchObject([{ verdict: 'healed' }]);
  expect(exitCode).toBe(0);
});

it('BL-6 CF-1 `verify.intent: tests` lets a fix stand that undoes a change, and names it', async () => {
  const project = await shopAfter(['Buy', 'Order now'], [['Order now', 'Buy']], ', intent: tests');
  const { exitCode, report, stderr } = await project.selfHeal(['run']);
  expect(report?.causes, stderr).toMatchObject([{ verdict: 'healed' }]);
  expect(report?.causes[0]?.attempts[0]?.notes).toContainEqual(
    expect.objectContaining({ file: 'page.html', says: expect.stringContaining('undoes all of') as unknown }),
  );
  expect(stderr).toContain('"Friendlier words"');
  expect(exitCode).toBe(0);
});
