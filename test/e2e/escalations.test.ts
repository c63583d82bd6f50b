import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { Escalation, Question } from '../../src/model/escalation.js';
import { createStore } from '../../src/store/create-store.js';
import { openStore } from '../../src/store/open-store.js';
import { aQuestion } from '../rig/builders.js';
import { canCreatePty, keys, startOnPty, type PtyProgram } from '../rig/on-a-pty.js';
import { scratchProject, userEnv } from '../rig/scratch-project.js';

const bin = path.resolve(import.meta.dirname, '../../bin/self-heal.js');

const question = aQuestion({
  signature: 'scratch:Error:00000001',
  tests: [{ id: 't1', name: 'cart.spec.ts › adds a thing to the cart, and shows the größe of it' }],
  problem: 'The page does not show what the test expects, and nobody can say which of the two is right.',
});

const credentials: Partial<Question> = {
  retry: 'never_retry',
  choices: ['provide-credentials', 'skip'],
};

/** A project with one open question. */
async function asked(over: Partial<Question> = {}) {
  const project = await scratchProject({ 'package.json': '{ "name": "scratch" }' });
  const opened = await openStore(path.join(project.dir, '.self-heal', 'ledger.db'), '/');
  if (!opened.ok) throw new Error(opened.error.message);
  const ledger = createStore(opened.value, 'scratch', () => Date.now());
  const { id } = (await ledger.escalate({ ...question, ...over }, 'run1'))!;
  await ledger.close();
  return { project, id, show: async () => shown(project.dir, id) };
}

async function shown(cwd: string, id: string): Promise<Escalation> {
  const { stdout } = await execa(process.execPath, [bin, 'escalations', 'show', id, '--json'], { cwd });
  return JSON.parse(stdout) as Escalation;
}

function resolving(
  cwd: string,
  id: string,
  {
    more = [],
    columns = 100,
    env = {},
  }: { more?: readonly string[]; columns?: number; env?: Record<string, string> } = {},
) {
  const command = [process.execPath, bin, 'escalations', 'resolve', id, ...more];
  return startOnPty(command, { ...userEnv(), ...env }, { cwd, columns });
}

/** Selects the nth choice, counted from 0. */
async function choose(terminal: PtyProgram, nth: number, instead = false): Promise<void> {
  await terminal.shows(instead ? 'done instead?' : 'What should be done?');
  await terminal.shows('confirm');
  terminal.type(...Array.from({ length: nth }, () => keys.down), keys.enter);
}

describe.runIf(canCreatePty)('on a terminal', () => {
  it.each([
    ['simplify', 1, {}, 'resolved'],
    ['skip', 1, credentials, 'skipped'],
  ] as const)('ME-7 arrow keys select %s, choice %i in the list', async (choice, nth, over, state) => {
    const { project, id, show } = await asked(over);
    const terminal = resolving(project.dir, id);
    await choose(terminal, nth);
    expect(await terminal.ended()).toBe(0);
    expect(await show()).toMatchObject({ state, choice });
  });

  it('ME-7 accepts guidance in any script, even in a narrow window', async () => {
    const { project, id, show } = await asked();
    const terminal = resolving(project.dir, id, { columns: 40 });
    await choose(terminal, 2);
    await terminal.shows('What should the agent know?');
    terminal.type(keys.enter);
    await terminal.shows('Enter some text');
    terminal.type('Grüße, 日本 – sag „Thanks“x', keys.backspace, keys.enter);
    await terminal.shows('May the agent change the tests, too?');
    terminal.type(keys.enter);
    expect(await terminal.ended()).toBe(0);
    expect(await show()).toMatchObject({
      state: 'resolved',
      choice: 'guide',
      guidance: 'Grüße, 日本 – sag „Thanks“',
    });
  });

  it('ME-7 Esc or Ctrl-C at either question changes nothing, says so, and exits with 130', async () => {
    const { project, id, show } = await asked();
    const first = resolving(project.dir, id);
    await first.shows('confirm');
    first.type(keys.escape);
    const second = resolving(project.dir, id);
    await choose(second, 2);
    await second.shows('What should the agent know?');
    second.type('half a wo', keys.ctrlC);
    for (const terminal of [first, second]) {
      expect(await terminal.ended()).toBe(130);
      expect(terminal.text()).toContain(`${id} is still pending`);
      // The cursor that the prompt hid is visible again.
      const [shown, hidden] = ['\u001B[?25h', '\u001B[?25l'].map((code) =>
        terminal.output().lastIndexOf(code),
      );
      expect(shown).toBeGreaterThan(hidden ?? -1);
    }
    expect(await show()).toMatchObject({ state: 'pending', choice: null, guidance: null });
  });

  it('ME-7 offers to change the answer to an escalation, without colors if NO_COLOR is set', async () => {
    const { project, id, show } = await asked();
    const skips = resolving(project.dir, id, { more: ['--choice', 'skip'] });
    expect(await skips.ended()).toBe(0);
    const terminal = resolving(project.dir, id, { env: { NO_COLOR: '1' } });
    await choose(terminal, 1, true);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text().replaceAll(/\s+/g, ' ')).toContain('previous answer: skip');
    expect(terminal.output()).not.toContain('\u001B[36m');
    expect(await show()).toMatchObject({ state: 'resolved', choice: 'simplify' });
  });
});

it('ME-7 CL-5 without a terminal, names the flags and suggests an id for an unknown one', async () => {
  const { project, id, show } = await asked();
  const cases = [
    [
      [id],
      `${id} needs an answer, but there is no terminal`,
      '--choice skip | simplify | guide, with --guidance',
    ],
    [[id, '--choice', 'guide'], 'the choice "guide" needs guidance', '--guidance'],
    [[id, '--choice', 'skip', '--allow', 'tests'], 'only an agent with guidance', 'omit --allow'],
    [
      [id, '--choice', 'provide-credentials'],
      'has no choice provide-credentials',
      '--choice skip | simplify | guide',
    ],
    [[id.slice(0, 6)], `${id} needs an answer`, '--choice'],
    [[`${id}0`], `there is no escalation ${id}0. Did you mean ${id}?`, 'list --all'],
    [['nonsense', '--choice', 'skip'], 'there is no escalation nonsense\n', 'list --all'],
    [[id, '--choice', 'nonsense'], 'Allowed choices are', 'self-heal escalations resolve --help'],
  ] as const;
  for (const [args, message, remedy] of cases) {
    const { exitCode, stderr } = await project.selfHeal(['escalations', 'resolve', ...args]);
    expect(stderr).toContain(message);
    expect(stderr).toContain(remedy);
    expect(exitCode).toBe(2);
  }
  expect(await show()).toMatchObject({ state: 'pending' });
});

it('ME-7 a quarantine is listed, expires after --days, and can be released by a short id', async () => {
  const { project, id } = await asked({
    tests: [...question.tests, { id: 't2', name: 'cart.spec.ts › removes' }],
  });
  const listed = async () =>
    JSON.parse((await project.selfHeal(['escalations', 'quarantine', '--json'])).stdout) as {
      quarantines: { testId: string; since: string; until: string }[];
    };
  expect(await listed()).toEqual({ schemaVersion: 1, quarantines: [] });
  const skip = ['escalations', 'resolve', id.slice(0, 5), '--choice', 'skip'];
  expect(await project.selfHeal([...skip, '--days', '0'])).toMatchObject({ exitCode: 2 });
  expect(await project.selfHeal([...skip, '--days', '7'])).toMatchObject({ exitCode: 0 });
  const { quarantines } = await listed();
  expect(quarantines.map(({ testId }) => testId)).toEqual(['t1', 't2']);
  const [{ since, until } = { since: '', until: '' }] = quarantines;
  expect(Date.parse(until) - Date.parse(since)).toBe(7 * 24 * 60 * 60_000);
  expect((await project.selfHeal(['escalations', 'quarantine'])).stdout).toContain('cart.spec.ts › removes');
  expect(await project.selfHeal(['escalations', 'quarantine', 'cart', '--release'])).toMatchObject({
    exitCode: 2,
  });
  expect(await project.selfHeal(['escalations', 'quarantine', 'removes', '--release'])).toMatchObject({
    exitCode: 0,
  });
  expect((await listed()).quarantines.map(({ testId }) => testId)).toEqual(['t1']);
  expect(await project.selfHeal(['escalations', 'quarantine', '--release', '--all'])).toMatchObject({
    exitCode: 0,
  });
  expect((await listed()).quarantines).toEqual([]);
});

it('CL-6 shows local time to people, and the stored UTC time to programs', async () => {
  const { project, id } = await asked();
  const env = { TZ: 'Pacific/Kiritimati' };
  const { createdAt } = JSON.parse(
    (await project.selfHeal(['escalations', 'show', id, '--json'], env)).stdout,
  ) as Escalation;
  expect(createdAt).toMatch(/Z$/);
  const there = new Date(Date.parse(createdAt) + 14 * 60 * 60_000)
    .toISOString()
    .slice(0, 16)
    .replace('T', ' ');
  expect((await project.selfHeal(['escalations'], env)).stdout).toContain(there);
});
