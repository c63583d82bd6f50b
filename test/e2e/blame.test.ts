import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { committed } from '../rig/git-repository.js';
import { isLong } from '../rig/long.js';
import {
  agentsYaml,
  causeOf,
  scratchProject,
  type ScratchProject,
  shopFiles,
} from '../rig/scratch-project.js';

const working = '<h1>Shop</h1>\n\n<p>All we have.</p>\n\n<button id="buy">Thanks</button>\n';
const broken = working.replace('Thanks', 'Tanks');

/** A repository whose last commit broke the page among other changes; its uncommitted change is harmless. */
async function shopWithHistory(more: Record<string, string> = {}): Promise<ScratchProject> {
  const files = { ...shopFiles, 'page.html': working, 'notes.txt': 'one\n', ...more };
  const project = await scratchProject({
    ...files,
    '.gitignore': 'node_modules\ntest-results\nheld\nhold\n',
  });
  committed(project.dir, 'shop');
  await project.write({ 'notes.txt': 'two\n' });
  committed(project.dir, 'notes', 'feature');
  await project.write({
    'page.html': broken.replace('Shop', 'Our shop'),
    ...('roles.txt' in more && { 'roles.txt': 'admin\n' }),
  });
  committed(project.dir, 'nicer page');
  await project.write({ 'notes.txt': 'three\n' });
  return project;
}

const culprit = {
  file: 'page.html',
  line: 5,
  old: ['<button id="buy">Thanks</button>'],
  now: ['<button id="buy">Tanks</button>'],
  commit: { author: 'Ann', subject: 'nicer page' },
};

const asksAPerson = `
  import { readFileSync, writeFileSync } from 'node:fs';
  const title = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test.titlePath.at(-1);
  if (title === 'buys') console.log('SELF-HEAL: ' + JSON.stringify({ status: 'needs-person', summary: 'Tanks or Thanks?' }));`;
const grantsRoles = `
  else writeFileSync('roles.txt', readFileSync('roles.txt', 'utf8').replace('admin\\n', 'admin clerk\\n'));`;
const refusing = {
  'roles.txt': 'admin clerk\n',
  'tests/roles.spec.ts': `
    import { test } from '@playwright/test';
    import { readFileSync } from 'node:fs';
    test('reads orders', () => {
      const roles = readFileSync('roles.txt', 'utf8').split(/\\s+/);
      if (!roles.includes('clerk')) throw new Error('403 Forbidden: permission denied');
    });`,
};

/** Waits while the change to the page is reverted, so that a search can be killed there. */
const waiting = `
      if (existsSync('hold') && readFileSync('page.html', 'utf8').includes('Thanks')) {
        writeFileSync('held', '');
        await new Promise(() => undefined);
      }
      expect(`;
const spec = shopFiles['tests/shop.spec.ts']
  .replace('readFileSync }', 'existsSync, readFileSync, writeFileSync }')
  .replace("('buys', () =>", "('buys', async () =>")
  .replace('expect(', waiting);

it('BL-1 BL-3 BL-4 HN-8 RP-1 a run names and reverts the change that broke a test', async () => {
  const project = await shopWithHistory({
    'agents.yaml': agentsYaml(['node', 'agent.mjs'], 'verify: { repeat: 1, flips: 1 }\nblame: { time: 30m }'),
    'agent.mjs': `${asksAPerson}\n${grantsRoles}`,
    ...(isLong ? refusing : {}),
  });
  const before = await project.read('page.html');
  const run = await project.selfHeal(['run'], { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: project.dir });
  expect(run.exitCode, run.stderr).toBe(3);
  if (isLong) {
    // A refusal that a commit brought is for an agent.
    const healed = { verdict: 'healed', blame: { hunks: [{ file: 'roles.txt' }] } };
    expect(causeOf(run, 'reads orders'), run.stderr).toMatchObject(healed);
  }
  // The first agent waits for the search, and the search goes on while it works.
  const lead = causeOf(run, isLong ? 'reads orders' : 'buys');
  const prompt = await project.read(`.self-heal/latest/${lead.attempts[0]?.prompt}`);
  expect(prompt.split('\n').slice(0, 3).join('\n')).toContain(' turns it green');
  expect(prompt).toContain(isLong ? '-admin clerk\n+admin' : '+<button id="buy">Tanks</button>');
  const { blame, attempts } = causeOf(run, 'buys');
  expect(blame).toMatchObject({ hunks: [culprit], isMinimal: true });
  expect(run.stderr).toContain('::error file=page.html,line=5,');
  const offered = attempts.at(-1);
  expect(offered).toMatchObject({ agent: 'built-in', end: { kind: 'offered', side: 'app' } });
  // Its test was red in the first run, when it was confirmed, and beside the fixes of others.
  const runs = offered?.end.kind === 'offered' ? offered.end.proof.join(' ') : '';
  expect(runs).toMatch(/^red red (?:red )*green$/);
  expect(await project.read('page.html')).toBe(before);
  const asked = run.report?.escalations.map(({ id }) => id) ?? [];
  const taken = await project.selfHeal(['escalations', 'resolve', ...asked, '--choice', 'app']);
  expect(taken.exitCode, taken.stderr).toBe(0);
  expect(taken.report).toMatchObject({ tests: [{ verdict: 'healed' }], totals: { agentRuns: 0 } });
  expect(taken.report?.causes[0]?.proof.join(' ')).toBe('red red green red green');
  expect(taken.stderr).toContain('proof   red red | green | red | green');
  expect(await project.read('page.html')).toBe(working.replace('Shop', 'Our shop'));
  expect(await project.read('notes.txt')).toBe('three\n');
  expect((await project.selfHeal(['undo', '--yes'])).exitCode).toBe(0);
  expect(await project.read('page.html')).toBe(before);
});

it.runIf(isLong)(
  'BL-5 HN-2 restores the working tree on Ctrl-C, or in the next command after a kill',
  async () => {
    const project = await shopWithHistory({ 'tests/shop.spec.ts': spec });
    const before = await project.read('page.html');
    await project.write({ hold: '' });
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const running = project.start(['blame', 'shop.spec.ts', '--base', 'main']);
      const held = path.join(project.dir, 'held');
      await vi.waitFor(() => expect(existsSync(held)).toBe(true), { timeout: 600_000 });
      expect(await project.read('page.html')).not.toBe(before);
      running.kill(signal);
      const { exitCode } = await running;
      if (signal === 'SIGINT') {
        expect(exitCode).toBe(130);
        expect(await project.read('page.html')).toBe(before);
      }
      rmSync(held);
    }
    rmSync(path.join(project.dir, 'hold'));
    // The next command restores the project before it begins.
    const { exitCode, report } = await project.selfHeal(['blame', 'shop.spec.ts', '--base', 'main']);
    expect(exitCode).toBe(1);
    expect(report?.causes[0]?.blame).toMatchObject({ base: { from: 'named' }, hunks: [culprit] });
    expect(report?.totals.agentRuns).toBe(0);
  },
);

it('BL-1 CL-5 self-heal blame refuses a base that is not a commit before it runs anything', async () => {
  const project = await shopWithHistory();
  const { exitCode, stderr, events } = await project.selfHeal(['blame', '--base', 'nowhere']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('git does not know the commit nowhere');
  expect(events).toEqual([]);
});
