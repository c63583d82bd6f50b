import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseAgentsFile } from '../../../src/config/agents-file.js';
import { parseDuration } from '../../../src/config/duration.js';
import { loadSettings, resolveSettings } from '../../../src/config/load-settings.js';
import { createAgentsJsonSchema } from '../../../src/config/schema.js';
import type { Settings } from '../../../src/model/settings.js';
import { getExitCode } from '../../../src/problem.js';
import { tempDir } from '../../rig/temp-dir.js';

function parsed(yaml: string): Settings {
  const file = parseAgentsFile(yaml, {});
  if (!file.ok) throw new Error(JSON.stringify(file.error));
  return resolveSettings({ file: file.value, project: 'shop', filePath: null });
}

// The defaults: load-settings.test.ts compares them with the shipped agents.yaml.
const nothing = parsed('');
const { verify } = nothing;
const { backoff } = nothing.retries;

describe('CF-1 the settings of a file, with defaults for the rest', () => {
  it('CF-1 CS-9 a file can set every setting', async () => {
    const yaml = readFileSync(path.join(import.meta.dirname, 'everything.yaml'), 'utf8');
    expect(keysOf(createAgentsJsonSchema() as Node).filter((key) => !yaml.includes(`${key}:`))).toEqual([]);
    const settings = `${JSON.stringify(parsed(yaml), null, 2)}\n`;
    await expect(settings).toMatchFileSnapshot('everything.txt');
  });

  it.each([
    ['limits: { costUsd: 2 }', { limits: { ...nothing.limits, costUsd: 2 } }],
    ['retries: { backoff: { max: 1s } }', { retries: { max: 3, backoff: { ...backoff, maxMs: 1_000 } } }],
    ['verify: { level: quick, repeat: 5 }', { verify: { ...verify, level: 'quick', repeat: 1, flips: 0 } }],
    ['\uFEFFproject: till', { project: 'till' }],
    ['project: till\r\nverify:\r\n  confirm: 2\r\n', { project: 'till', verify: { ...verify, confirm: 2 } }],
  ])('CF-1 %j changes only what it names', (yaml, changes) => {
    expect(parsed(yaml)).toEqual({ ...nothing, ...changes });
  });

  it('CF-1 understands anchors, aliases and merge keys', () => {
    const { agents } = parsed(`
agents:
  first: &slow { timeout: 10m, slashCommand: /slow }
  second: { <<: *slow, slashCommand: /second }
  third: *slow
routes: { unknown: &both [first, second], ui-error: *both }
`);
    expect(agents['second']).toMatchObject({ timeoutMs: 600_000, slashCommand: '/second' });
    expect(agents['third']).toMatchObject({ name: 'third', timeoutMs: 600_000, slashCommand: '/slow' });
  });
});

describe('CF-1 durations', () => {
  it.each([
    ['5m', 300_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1h2m3s4ms', 3_723_004],
    ['0s', 0],
    ['5m500ms', 300_500],
  ])('CF-1 %s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', '5 m', 'm', '5M', '-5m', '1.5h', '30m1h', '5m5m', '5d', '5m ', '1e3ms', '٥m'])(
    'CF-3 %j is not a duration',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});

describe('load settings', () => {
  const shipped = new URL('../../../agents.yaml', import.meta.url);
  let cwd: string;

  beforeEach(() => {
    cwd = tempDir('config');
  });

  async function write(name: string, content: string | Uint8Array): Promise<string> {
    const file = path.join(cwd, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  }

  describe('CF-1 where settings come from', () => {
    it('CF-1 the shipped agents.yaml equals the built-in defaults', async () => {
      const builtIn = await loadSettings({ cwd, env: {} });
      const file = await write('agents.yaml', await readFile(shipped));
      const loaded = await loadSettings({ cwd, env: {} });
      if (!builtIn.ok || !loaded.ok) throw new Error(JSON.stringify({ builtIn, loaded }));
      expect(builtIn.value.file).toBeNull();
      // The file names its runner, so no other may take its place.
      expect(loaded.value).toEqual({ ...builtIn.value, agentsWithDefaultRunner: [], file });
    });

    it('CF-1 reads a named file, else agents.yaml, else agents.yml', async () => {
      await write('agents.yml', 'project: yml');
      expect(await loadSettings({ cwd, env: {} })).toMatchObject({ value: { project: 'yml' } });
      await write('agents.yaml', 'project: yaml');
      expect(await loadSettings({ cwd, env: {} })).toMatchObject({ value: { project: 'yaml' } });
      const file = await write('ci/heal.yaml', 'project: ${NAME}');
      const settings = await loadSettings({ cwd, file: 'ci/heal.yaml', env: { NAME: 'ci' } });
      expect(settings).toMatchObject({ value: { project: 'ci', file } });
      expect(await loadSettings({ cwd: tmpdir(), file, env: { NAME: 'x' } })).toMatchObject({
        value: { file },
      });
    });

    it('CF-1 the project’s name comes from the file, else from package.json, else from the folder', async () => {
      const projectName = async () => {
        const settings = await loadSettings({ cwd, env: {} });
        return settings.ok && settings.value.project;
      };
      expect(await projectName()).toBe(path.basename(cwd));
      await write('package.json', '{ "name": 5 }');
      expect(await projectName()).toBe(path.basename(cwd));
      await write('package.json', '{ "name": ');
      expect(await projectName()).toBe(path.basename(cwd));
      await write('package.json', '{ "name": "@acme/shop" }');
      expect(await projectName()).toBe('@acme/shop');
      await write('agents.yaml', 'project: said');
      expect(await projectName()).toBe('said');
    });
  });

  describe('CF-3 a file that cannot be used', () => {
    it.each([
      [
        'in UTF-16',
        Buffer.from('\uFEFFrunner: claude\n', 'utf16le'),
        '1:1 this is not UTF-8 (it looks like UTF-16)',
      ],
    ])('CF-3 shows where a file %s is not UTF-8', async (_, bytes, head) => {
      await write('agents.yaml', bytes);
      expect(await loadSettings({ cwd, env: {} })).toMatchObject({
        error: { detail: expect.stringContaining(`agents.yaml:${head}`) },
      });
    });

    it.each([
      ['does not exist', 'nowhere.yaml', 'nowhere.yaml does not exist'],
      ['is a folder', 'folder', 'folder is not a file'],
      ['is too large', 'huge.yaml', 'huge.yaml is larger than 256 KiB'],
    ])('CF-3 reports a file that %s', async (_, file, message) => {
      await write('file', '');
      await mkdir(path.join(cwd, 'folder'));
      await write('huge.yaml', '#'.repeat(256 * 1024 + 1));
      expect(await loadSettings({ cwd, file, env: {} })).toMatchObject({
        ok: false,
        error: {
          kind: 'config-invalid',
          message: typeof message === 'string' ? message : expect.stringMatching(message),
        },
      });
    });
  });
});

describe('environment', () => {
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
    const env = { SELF_HEAL_COST_USD: '0.5', SELF_HEAL_VERIFY: 'quick', SELF_HEAL_STORE: 'postgres://db/x' };
    expect(await loadSettings({ cwd, env })).toMatchObject({
      value: {
        limits: { costUsd: 0.5, timeMs: 180_000, agentRuns: 20 },
        verify: { level: 'quick' },
        store: 'postgres://db/x',
      },
    });
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

  it('CF-4 reports a misspelled variable, but ignores unrelated ones', async () => {
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
    expect(getExitCode(problem)).toBe(2);
    expect(problem.message).toBe('agents.yaml has 1 mistake, the environment has 1 mistake');
    expect(problem.detail).toMatch(/agents\.yaml:1:17[\s\S]*SELF_HEAL_COST_USD: /);
  });
});

const committed = new URL('../../../schema/agents.schema.json', import.meta.url);

interface Node {
  description?: string;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
}

/** The keys of a schema whose names are its own, not the user's. */
function keysOf(node: Node): string[] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, child]) => [key, ...keysOf(child)]);
  return typeof node.additionalProperties === 'object' ? [...own, ...keysOf(node.additionalProperties)] : own;
}

/** The keys of a schema without a description for editors to show. */
function undescribed(node: Node, path: string): string[] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
    ...(child.description ? [] : [`${path}${key}`]),
    ...undescribed(child, `${path}${key}.`),
  ]);
  const rest =
    typeof node.additionalProperties === 'object' ? undescribed(node.additionalProperties, `${path}*.`) : [];
  return [...own, ...rest];
}

describe('CF-2 the JSON Schema', () => {
  it('CF-2 is draft-07, committed as generated from src/config/schema.ts (npm run build)', async () => {
    expect(createAgentsJsonSchema().$schema).toBe('http://json-schema.org/draft-07/schema#');
    expect(await readFile(committed, 'utf8')).toBe(`${JSON.stringify(createAgentsJsonSchema(), null, 2)}\n`);
  });

  it('CF-2 describes every key', () => {
    expect(undescribed(createAgentsJsonSchema(), '')).toEqual([]);
  });
});

it.each([
  ['two lines', { own: { acp: ['own-agent', 'acp'] } }, 'own', ['own-agent', 'acp']],
  ['its name', {}, 'goose', ['goose', 'acp']],
  ['its name, with arguments', { gemini: { args: ['-m', 'x'] } }, 'gemini', ['gemini', '--acp', '-m', 'x']],
])(
  'AG-1 a program that speaks the Agent Client Protocol is configured by %s',
  (_, runners, name, command) => {
    const settings = resolveSettings({ file: { runner: name, runners }, project: 'shop', filePath: null });
    expect(settings.agents['debugger']?.runner).toBe(name);
    expect(settings.runners[name]).toEqual({ kind: 'acp', program: name, command });
  },
);
