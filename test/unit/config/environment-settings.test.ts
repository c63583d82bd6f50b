import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readEnvironment, variableOf } from '../../../src/config/environment-settings.js';
import { loadSettings } from '../../../src/config/load-settings.js';
import { scalarKeys } from '../../../src/config/scalar-keys.js';
import { exitCodeFor } from '../../../src/problem.js';

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'self-heal-environment-'));
});

afterEach(async () => {
  await rm(cwd, { recursive: true, force: true });
});

it('CF-4 every scalar setting has a variable of its own', () => {
  const names = scalarKeys().map(({ path: key }) => variableOf(key));
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining([
      'SELF_HEAL_PROJECT',
      'SELF_HEAL_RUNNER',
      'SELF_HEAL_RETRIES_MAX',
      'SELF_HEAL_RETRIES_BACKOFF_INITIAL',
      'SELF_HEAL_LIMITS_AGENT_RUNS_PER_TEST',
      'SELF_HEAL_LIMITS_COST_USD',
      'SELF_HEAL_VERIFY_PREPARE',
    ]),
  );
  expect(names).not.toContain('SELF_HEAL_VERSION');
});

it('CF-4 the environment overrides the file, and the file the defaults, value by value', async () => {
  await writeFile(
    path.join(cwd, 'agents.yaml'),
    'retries: { max: 7, backoff: { initial: 9s } }\nlimits: { time: 3m }\n',
  );
  const env = {
    SELF_HEAL_RETRIES_MAX: '1',
    SELF_HEAL_LIMITS_COST_USD: '0.5',
    SELF_HEAL_LIMITS_TIME: '90s',
    SELF_HEAL_BLAME_ENABLED: 'false',
  };
  expect(await loadSettings({ cwd, env })).toMatchObject({
    value: {
      retries: { max: 1, backoff: { initialMs: 9_000, factor: 2 } },
      limits: { costUsd: 0.5, timeMs: 90_000, agentRuns: 20 },
      blame: { enabled: false },
    },
  });
});

it('CF-4 a runner named in the environment runs the agents that name none', async () => {
  await writeFile(
    path.join(cwd, 'agents.yaml'),
    'runners: { own: { command: [node] } }\nagents: { database: { runner: claude } }\n',
  );
  expect(await loadSettings({ cwd, env: { SELF_HEAL_RUNNER: 'own' } })).toMatchObject({
    value: { agents: { debugger: { runner: 'own' }, database: { runner: 'claude' } } },
  });
});

it('CF-4 ignores an empty variable, and accepts a number as the name of a project', () => {
  const env = { SELF_HEAL_RETRIES_MAX: '', SELF_HEAL_RUNNER: '  ', SELF_HEAL_PROJECT: '2048' };
  expect(readEnvironment(env)).toMatchObject({ settings: { project: '2048' }, mistakes: [] });
});

it.each([
  ['SELF_HEAL_RETRIES_MAX', '-1', 'must not be negative'],
  ['SELF_HEAL_RETRIES_MAX', '1.5', 'must be a whole number'],
  ['SELF_HEAL_LIMITS_COST_USD', 'lots', 'must be a number, not text'],
  ['SELF_HEAL_LIMITS_TIME', '5', 'must be a duration'],
  ['SELF_HEAL_LIMITS_TIME', '0s', 'must be more than zero'],
  ['SELF_HEAL_RUNNER', 'claud', 'did you mean "claude"?'],
])('CF-4 %s=%s is a mistake with the value marked', (name, value, message) => {
  const { mistakes, settings } = readEnvironment({ [name]: value });
  expect(mistakes).toHaveLength(1);
  const [head = '', line = '', marker = ''] = (mistakes[0] ?? '').split('\n');
  expect(head).toContain(message);
  expect(line.slice(marker.indexOf('~'), marker.length)).toBe(value);
  expect(settings).toEqual({});
});

it('CF-4 reports a misspelled variable, but none that a run sets for its agents or that resembles no setting', () => {
  const own = {
    SELF_HEAL_RUN_ID: 'x',
    SELF_HEAL_CONTEXT: '/c',
    SELF_HEAL_PROMPT: '/p',
    SELF_HEAL_DATA_DIR: '/d',
  };
  expect(readEnvironment(own).mistakes).toEqual([]);
  const { mistakes } = readEnvironment({ ...own, SELF_HEAL_RETRY_MAX: '3' });
  expect(mistakes).toEqual([expect.stringContaining('did you mean "SELF_HEAL_RETRIES_MAX"?')]);
});

it('CF-4 reports mistakes of the file and of the environment together, with exit code 2', async () => {
  await writeFile(path.join(cwd, 'agents.yaml'), 'retries: { max: many }\n');
  const ended = await loadSettings({ cwd, env: { SELF_HEAL_LIMITS_TIME: 'soon' } });
  if (ended.ok) throw new Error('there are mistakes');
  expect(exitCodeFor(ended.error)).toBe(2);
  expect(ended.error.message).toBe('agents.yaml has 1 mistake, the environment has 1 mistake');
  expect(ended.error.detail).toMatch(/agents\.yaml:1:17[\s\S]*SELF_HEAL_LIMITS_TIME=soon/);
});

it('CF-4 does not report an unknown runner if the file that may define it is invalid', async () => {
  await writeFile(path.join(cwd, 'agents.yaml'), 'runners: { own: { command: [] } }\n');
  const ended = await loadSettings({ cwd, env: { SELF_HEAL_RUNNER: 'own' } });
  if (ended.ok) throw new Error('there is a mistake');
  expect(ended.error.message).toBe('agents.yaml has 1 mistake');
});
