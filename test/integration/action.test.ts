import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { tempDir } from '../rig/temp-dir.js';

const repository = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(repository, file), 'utf8');

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

describe('action.yml', () => {
  const action = parse(read('action.yml')) as {
    inputs: Record<string, { default: string }>;
    outputs: Record<string, { value: string }>;
    runs: { using: string; steps: readonly Step[] };
  };
  const script = action.runs.steps[0]?.run ?? '';

  it('RP-3 passes on the outputs that self-heal writes', () => {
    expect(action.runs.using).toBe('composite');
    for (const name of ['outcome', 'healed', 'escalations', 'cost', 'folder']) {
      expect(action.outputs[name]?.value).toBe(`\${{ steps.self-heal.outputs.${name} }}`);
    }
  });

  it('RP-3 inserts no input into the text of the script', () => {
    expect(script).not.toContain('${{');
    const given = Object.values(action.runs.steps[0]?.env ?? {});
    const names = Object.keys(action.inputs).filter((name) => name !== 'working-directory');
    expect(given).toEqual(expect.arrayContaining(names.map((name) => `\${{ inputs.${name} }}`)));
  });

  it.each([
    ['nothing', {}, []],
    [
      'words',
      { INPUT_ARGS: ' --project=chromium  cart\n--shard 1/2 ' },
      ['--project=chromium', 'cart', '--shard', '1/2'],
    ],
    ['quotes', { INPUT_ARGS: `--grep "two words" 'a "b"'` }, ['--grep', 'two words', 'a "b"']],
    ['shell syntax', { INPUT_ARGS: '$(id) `id` * ; & $HOME' }, ['$(id)', '`id`', '*', ';', '&', '$HOME']],
    [
      'switches',
      { INPUT_AGENTS: 'ci agents.yaml', INPUT_FAIL_ON_HEAL: 'true', INPUT_FAIL_ON_FLAKY_TESTS: 'true' },
      ['--agents', 'ci agents.yaml', '--fail-on-heal', '--fail-on-flaky-tests'],
    ],
  ])('RP-3 runs the installed self-heal with its arguments: %s', async (_, inputs, args) => {
    expect(await runScript(script, inputs)).toEqual({
      exitCode: 3,
      words: ['--no', '--', 'self-heal', 'run', ...args],
    });
  });

  it('RP-3 starts nothing if the arguments cannot be parsed', async () => {
    const { exitCode, words } = await runScript(script, { INPUT_ARGS: `--grep "no end` });
    expect(exitCode).not.toBe(0);
    expect(words).toEqual([]);
  });
});

/** Runs the script as GitHub does, with a stand-in for npx that records its arguments and exits with 3. */
async function runScript(script: string, inputs: Record<string, string>) {
  const dir = tempDir('action');
  const standIn = `#!/bin/sh\nprintf '%s\\n' "$@" > words\nexit 3\n`;
  await writeFile(path.join(dir, 'npx'), standIn, { mode: 0o755 });
  const none = {
    INPUT_ARGS: '',
    INPUT_AGENTS: '',
    INPUT_FAIL_ON_HEAL: 'false',
    INPUT_FAIL_ON_FLAKY_TESTS: 'false',
  };
  const env = { ...none, ...inputs, PATH: `${dir}${path.delimiter}${process.env['PATH'] ?? ''}` };
  await writeFile(path.join(dir, 'words'), '');
  const options = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  const { exitCode } = await execa('bash', options, { cwd: dir, env, reject: false });
  const words = readFileSync(path.join(dir, 'words'), 'utf8').split('\n');
  return { exitCode, words: words.slice(0, -1) };
}
