import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { loadSettings } from '../../../src/config/load-settings.js';
import { exitCodeFor } from '../../../src/problem.js';
import { tempDir } from '../../rig/temp-dir.js';

let cwd: string;

beforeEach(() => {
  cwd = tempDir('environment');
});

const write = (text: string) => writeFileSync(path.join(cwd, 'agents.yaml'), text);

async function problemOf(env: Record<string, string>) {
  const ended = await loadSettings({ cwd, env });
  if (ended.ok) throw new Error('there are mistakes');
  return ended.error;
}

it('CF-4 the environment overrides the file, and the file the defaults, value by value', async () => {
  write('verify: { level: full, repeat: 7 }\nlimits: { time: 3m, costUsd: 5 }\nstore: a.db\n');
  const env = { SELF_HEAL_COST_USD: '0.5', SELF_HEAL_VERIFY: 'none', SELF_HEAL_STORE: 'postgres://db/x' };
  expect(await loadSettings({ cwd, env })).toMatchObject({
    value: {
      limits: { costUsd: 0.5, timeMs: 180_000, agentRuns: 20 },
      verify: { level: 'none' },
      store: 'postgres://db/x',
    },
  });
});

it('CF-4 a runner named in the environment runs the agents that name none', async () => {
  write('runners: { own: { command: [node] } }\nagents: { database: { runner: claude } }\n');
  expect(await loadSettings({ cwd, env: { SELF_HEAL_RUNNER: 'own' } })).toMatchObject({
    value: { agents: { debugger: { runner: 'own' }, database: { runner: 'claude' } } },
  });
});

it('CF-4 ignores an empty variable', async () => {
  const env = { SELF_HEAL_COST_USD: '', SELF_HEAL_RUNNER: '  ' };
  expect(await loadSettings({ cwd, env })).toMatchObject({ value: { limits: { costUsd: 10 } } });
});

it.each([
  ['SELF_HEAL_COST_USD', '-1', 'must not be negative'],
  ['SELF_HEAL_COST_USD', 'lots', 'must be a number, not text'],
  ['SELF_HEAL_VERIFY', 'qick', 'did you mean "quick"?'],
  ['SELF_HEAL_RUNNER', 'claud', 'did you mean "claude"?'],
  ['SELF_HEAL_STORE', 'mysql://me:s3cr3t@db', 'must be a file or a postgres:// URL'],
])('CF-4 EV-9 %s=%s is a mistake, whose value is not shown', async (name, value, message) => {
  const { detail = '' } = await problemOf({ [name]: value });
  expect(detail).toMatch(new RegExp(`^${name}: `));
  expect(detail).toContain(message);
  expect(detail).not.toContain('s3cr3t');
});

it('CF-4 reports a misspelled variable, but none that a run sets for its agents or that resembles no setting', async () => {
  const own = {
    SELF_HEAL_RUN_ID: 'x',
    SELF_HEAL_START_ID: 'y',
    SELF_HEAL_CONTEXT: '/c',
    SELF_HEAL_PROMPT: '/p',
    SELF_HEAL_ATTEMPT: '1',
    SELF_HEAL_CHROMIUM: '/b',
  };
  expect(await loadSettings({ cwd, env: own })).toMatchObject({ ok: true });
  const { detail } = await problemOf({ ...own, SELF_HEAL_STOER: 'x.db' });
  expect(detail).toContain('did you mean "SELF_HEAL_STORE"?');
});

it('CF-4 reports mistakes of the file and of the environment together, with exit code 2', async () => {
  write('retries: { max: many }\n');
  const problem = await problemOf({ SELF_HEAL_COST_USD: 'lots' });
  expect(exitCodeFor(problem)).toBe(2);
  expect(problem.message).toBe('agents.yaml has 1 mistake, the environment has 1 mistake');
  expect(problem.detail).toMatch(/agents\.yaml:1:17[\s\S]*SELF_HEAL_COST_USD: /);
});

it('CF-4 does not report an unknown runner if the file that may define it is invalid', async () => {
  write('runners: { own: { command: [] } }\n');
  expect((await problemOf({ SELF_HEAL_RUNNER: 'own' })).message).toBe('agents.yaml has 1 mistake');
});
