import { writeFileSync } from 'node:fs';
import { execa } from 'execa';
import path from 'node:path';
import { expect, it } from 'vitest';
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

it('CL-8 classifies text from standard input, and names the deciding evidence', async () => {
  const { exitCode, stdout } = await classify(
    ['-'],
    "src/cart.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",
  );
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^build-error/);
  expect(stdout).toContain("Type 'string' is not assignable");
});

it('CL-8 CS-9 applies the rules of the project in the current folder, and names a mistake in them', async () => {
  const dir = tempDir('classify größe');
  const rules = (id: string) =>
    writeFileSync(
      path.join(dir, 'agents.yaml'),
      `version: 1\nclassify: { rules: [{ ${id}: proxy-down, class: network-error, pattern: upstream hiccup }] }\n`,
    );
  rules('id');
  expect((await classify(['-'], 'upstream hiccup', dir)).stdout).toMatch(/^network-error/);
  expect((await classify(['-'], 'upstream hiccup')).stdout).toMatch(/^unknown/);
  rules('name');
  const { exitCode, stderr } = await classify(['-'], 'upstream hiccup', dir);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('agents.yaml');
});

it('CL-8 classifies one failure per line with --jsonl', async () => {
  const lines = [
    { id: 'a', error: { message: 'relation "users" does not exist' }, console: [], network: [] },
    { id: 'b', error: { message: 'something else' }, console: [], network: [] },
  ];
  const { exitCode, stdout } = await classify(
    ['--jsonl'],
    lines.map((line) => JSON.stringify(line)).join('\n'),
  );
  expect(exitCode).toBe(0);
  const answers = stdout.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(answers).toMatchObject([
    { id: 'a', category: 'database-error', retry: 'code_error' },
    { id: 'b', category: 'unknown', why: [] },
  ]);
});

it('AG-6 classifies the error output of agent programs with --agent, one per line with --jsonl', async () => {
  const lines = [
    { id: 'a', stderr: 'API Error: 529 Overloaded' },
    { id: 'b', stderr: 'prompt is too long: 3 tokens > 2 maximum' },
    { id: 'c', stderr: '' },
  ];
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const { exitCode, stdout } = await classify(['--agent', '--jsonl'], text);
  expect(exitCode).toBe(0);
  const answers = stdout.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(answers).toMatchObject([
    { id: 'a', category: 'retryable', reason: 'overloaded' },
    { id: 'b', category: 'context_overflow' },
    { id: 'c', category: 'fatal', reason: 'unknown', evidence: null },
  ]);
  expect((await classify(['--agent'], 'HTTP 429')).stdout).toContain('retryable (rate-limited)');
  expect((await classify(['--agent', '--jsonl'], '{"id":"x"}')).exitCode).toBe(2);
});

it('CS-6 warns about an unknown error type in exactly the specified words', async () => {
  const { stdout } = await classify(['-'], 'it does not work');
  expect(stdout).toContain('Error type unknown, using default agent');
});

it('CL-8 exits with 2 and names a line that is not JSON, or a file that does not exist', async () => {
  const broken = await classify(['--jsonl'], '{"error":{"message":"x"}}\nnot json\n');
  expect(broken.exitCode).toBe(2);
  expect(broken.stderr).toContain('line 2');
  const missing = await classify(['no-such-file.txt'], '');
  expect(missing.exitCode).toBe(2);
  expect(missing.stderr).toContain('no-such-file.txt');
});

it.each([[['-']], [['--json', '-']], [['--agent', '-']]])(
  'EV-9 masks secrets of its input with %j',
  async (args) => {
    const text =
      'API Error: 401 at http://ann:Kx7mondSchein9@127.0.0.1:3000/?access_token=bHq9vR2xT7mK4pW8zL3c';
    const { exitCode, stdout } = await classify(args, text);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('[masked: ');
    expect(stdout).not.toMatch(/Kx7mond|bHq9vR2x/);
  },
);

it('EV-9 masks secrets in a problem too', async () => {
  const { exitCode, stderr } = await classify(['no-such-file?access_token=bHq9vR2xT7mK4pW8zL3c'], '');
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain('no-such-file?access_token=[masked: token]');
  expect(stderr).not.toContain('bHq9vR2x');
});
