import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/config/load-settings.js';
import { exitCodeFor } from '../../../src/problem.js';
import { tempDir } from '../../rig/temp-dir.js';

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
    const builtIn = await loadSettings({ cwd, env: {}, packageName: 'shop' });
    const file = await write('agents.yaml', await readFile(shipped));
    const loaded = await loadSettings({ cwd, env: {}, packageName: 'shop' });
    if (!builtIn.ok || !loaded.ok) throw new Error(JSON.stringify({ builtIn, loaded }));
    expect(builtIn.value.file).toBeNull();
    // The file names its runner, so no other may take its place.
    expect(loaded.value).toEqual({ ...builtIn.value, runnerByDefault: [], file });
  });

  it('CF-2 the first line of the shipped agents.yaml points editors at the schema', async () => {
    const [first] = (await readFile(shipped, 'utf8')).split('\n');
    expect(first).toBe('# yaml-language-server: $schema=./node_modules/self-heal/schema/agents.schema.json');
  });

  it('CF-1 reads a named file, else agents.yaml, else agents.yml', async () => {
    await write('agents.yml', 'project: yml');
    expect(await loadSettings({ cwd, env: {} })).toMatchObject({ value: { project: 'yml' } });
    await write('agents.yaml', 'project: yaml');
    expect(await loadSettings({ cwd, env: {} })).toMatchObject({ value: { project: 'yaml' } });
    const file = await write('ci/heal.yaml', 'project: ${NAME}');
    const named = await loadSettings({ cwd, file: 'ci/heal.yaml', env: { NAME: 'ci' } });
    expect(named).toMatchObject({ value: { project: 'ci', file } });
    expect(await loadSettings({ cwd: tmpdir(), file, env: { NAME: 'x' } })).toMatchObject({
      value: { file },
    });
  });

  it('CF-4 a blank --store, as from an unset variable, counts as not given', async () => {
    expect(await loadSettings({ cwd, env: {}, store: ' ' })).toMatchObject({
      value: { store: '.self-heal/ledger.db' },
    });
  });

  it('CF-1 the project’s name comes from the file, else from the caller, else from package.json, else from the folder', async () => {
    const named = async (packageName?: string) => {
      const settings = await loadSettings({ cwd, env: {}, ...(packageName ? { packageName } : {}) });
      return settings.ok && settings.value.project;
    };
    expect(await named()).toBe(path.basename(cwd));
    await write('package.json', '{ "name": 5 }');
    expect(await named()).toBe(path.basename(cwd));
    await write('package.json', '{ "name": ');
    expect(await named()).toBe(path.basename(cwd));
    await write('package.json', '{ "name": "@acme/shop" }');
    expect(await named()).toBe('@acme/shop');
    expect(await named('told')).toBe('told');
    await write('agents.yaml', 'project: said');
    expect(await named('told')).toBe('said');
  });
});

describe('CF-3 a file that cannot be used', () => {
  it('CF-3 is one problem with all its mistakes and exit code 2', async () => {
    await write('agents.yaml', 'runer: claude\nlimits: { time: 5 }\n');
    const settings = await loadSettings({ cwd, env: {} });
    if (settings.ok) throw new Error('accepted');
    expect(settings.error).toEqual({
      kind: 'config-invalid',
      message: 'agents.yaml has 2 mistakes',
      detail: [
        'agents.yaml:1:1 unknown key "runer"; did you mean "runner"?',
        '    runer: claude',
        '    ~~~~~',
        '',
        'agents.yaml:2:17 "time" needs a unit: write 5s or 5m',
        '    limits: { time: 5 }',
        '                    ~',
      ].join('\n'),
      remedy: 'Correct agents.yaml; nothing was run.',
    });
    expect(exitCodeFor(settings.error)).toBe(2);
  });

  it.each([
    [
      'in Latin-1',
      Buffer.concat([Buffer.from('漢\nx: '), Buffer.from([0xe9])]),
      '2:4 this is not UTF-8; save',
    ],
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
    ['has a file as its folder', 'file/agents.yaml', `${path.join('file', 'agents.yaml')} does not exist`],
    ['is a folder', 'folder', 'folder is not a file'],
    ['is the current folder', '.', / is not a file$/],
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

  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'CF-3 reports a file that may not be read, instead of using the defaults',
    async () => {
      await chmod(await write('agents.yaml', 'version: 1'), 0);
      expect(await loadSettings({ cwd, env: {} })).toMatchObject({
        error: { message: 'agents.yaml cannot be read (EACCES)' },
      });
    },
  );
});
