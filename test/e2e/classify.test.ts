import { execa } from 'execa';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeInto } from '../rig/agent-workspace.js';
import { userEnv } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const cli = path.resolve(import.meta.dirname, '../../bin/self-heal.js');

const classify = (args: readonly string[], input: string, cwd = tempDir('classify')) =>
  execa(process.execPath, [cli, 'classify', ...args], {
    cwd,
    input,
    env: userEnv(),
    extendEnv: false,
    reject: false,
  });

const answersIn = (stdout: string) =>
  stdout.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
const linesOf = (failures: readonly object[]) => failures.map((one) => JSON.stringify(one)).join('\n');

it.each([
  ["src/cart.ts(12,5): error TS2322: Type 'string' is not assignable.", /^build-error[^]*Type 'string'/],
  ['it does not work', /Error type unknown, using default agent/],
])('CL-8 CS-6 classifies %j from standard input, and says why', async (text, said) => {
  const { exitCode, stdout } = await classify(['-'], text);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(said);
});

it('CL-8 CS-9 applies the current project’s rules, and reports mistakes in them', async () => {
  const dir = tempDir('classify größe');
  const rules = (id: string) =>
    writeInto(dir, {
      'agents.yaml': `classify: { rules: [{ ${id}: proxy-down, class: network-error, pattern: upstream hiccup }] }\n`,
    });
  rules('id');
  expect((await classify(['-'], 'upstream hiccup', dir)).stdout).toMatch(/^network-error/);
  rules('name');
  const { exitCode, stderr } = await classify(['-'], 'upstream hiccup', dir);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('agents.yaml')]);
});

it('CL-8 AG-6 classifies a failure or an agent program’s error output, one per line with --jsonl', async () => {
  const failures = [
    { id: 'a', error: { message: 'relation "users" does not exist' }, console: [], network: [] },
    { id: 'b', error: { message: 'something else' }, console: [], network: [] },
  ];
  const ofTests = await classify(['--jsonl'], linesOf(failures));
  expect(answersIn(ofTests.stdout)).toMatchObject([
    { id: 'a', category: 'database-error', retry: 'code_error' },
    { id: 'b', category: 'unknown', why: [] },
  ]);
  const outputs = [
    { id: 'a', stderr: 'API Error: 529 Overloaded' },
    { id: 'b', stderr: 'prompt is too long: 3 tokens > 2 maximum' },
    { id: 'c', stderr: '' },
  ];
  const ofAgents = await classify(['--agent', '--jsonl'], linesOf(outputs));
  expect(answersIn(ofAgents.stdout)).toMatchObject([
    { id: 'a', category: 'retryable', reason: 'overloaded' },
    { id: 'b', category: 'context_overflow' },
    { id: 'c', category: 'fatal', reason: 'unknown', evidence: null },
  ]);
});

it('CL-8 EV-9 names an unreadable line or file without its secret, and exits with 2', async () => {
  const broken = await classify(['--jsonl'], '{"error":{"message":"x"}}\nnot json\n');
  expect([broken.exitCode, broken.stderr]).toEqual([2, expect.stringContaining('line 2')]);
  const missing = await classify(['no-such-file?access_token=bHq9vR2xT7mK4pW8zL3c'], '');
  const said = expect.stringContaining('no-such-file?access_token=[masked: token]') as string;
  expect([missing.exitCode, missing.stderr]).toEqual([2, said]);
});

it.each([[['-']], [['--json', '-']], [['--agent', '-']]])(
  'EV-9 masks secrets of its input with %j',
  async (args) => {
    const url = 'http://ann:Kx7mondSchein9@127.0.0.1:3000/?access_token=bHq9vR2xT7mK4pW8zL3c';
    const { stdout } = await classify(args, `API Error: 401 at ${url}`);
    expect(stdout).toContain('[masked: ');
    expect(stdout).not.toMatch(/Kx7mond|bHq9vR2x/);
  },
);
