import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRunAgent } from '../../src/agents/create-run-agent.js';
import { expandedPrompt } from '../../src/agents/expand-command.js';
import { classifyAgentError } from '../../src/core/agent-error/classify-agent-error.js';
import type { AgentRun } from '../../src/core/attempt.js';
import { agentTask } from '../rig/agent-task.js';
import { tempDir } from '../rig/temp-dir.js';
import { commandFile, lastWords, realPrograms, type RealProgram } from './real-program.js';
import { startStubApi, type SeenRequest, type Step } from './stub-api.js';

const runAgent = createRunAgent();
const words = 'Fix this error so the test can pass.\n\n## Error\n\n```\nline 1\nline 2\n```\n';

interface Seen {
  readonly run: AgentRun;
  readonly requests: readonly SeenRequest[];
  readonly file: string;
}

/** Lets the program work in a project with a file that says `one`, with a provider that does these steps. */
async function work(
  program: RealProgram,
  stepsFor: (file: string) => readonly Step[],
  resume: string | null = null,
): Promise<Seen> {
  const { name } = program;
  const task = agentTask('hangs', {
    runner: { kind: name },
    agent: { name: 'debugger', slashCommand: '/debugger', runner: name, timeoutMs: 120_000 },
    prompt: `/debugger ${words}`,
    resume,
  });
  for (const [file, text] of Object.entries(commandFile(program))) {
    mkdirSync(path.dirname(path.join(task.cwd, file)), { recursive: true });
    writeFileSync(path.join(task.cwd, file), text);
  }
  const file = path.join(task.cwd, 'a.txt');
  writeFileSync(file, 'one\n');
  await using stub = await startStubApi(stepsFor(file));
  const env = { ...program.env(stub.url), SECRET_OF_THE_PROJECT: 'must-not-be-seen' };
  for (const key of Object.keys(process.env)) if (!(key in env)) vi.stubEnv(key, undefined);
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
  const prompt = await expandedPrompt(task.runner, task.prompt, task.cwd);
  const run = await runAgent({ ...task, prompt });
  return { run, requests: stub.requests, file };
}

afterEach(() => vi.unstubAllEnvs());

describe.each(realPrograms)('$name', (program) => {
  it('AG-1 AG-3 AG-9 is sent the expanded command, edits the file, and reports what it took', async () => {
    const { run, requests, file } = await work(program, (file) => [...program.edits(file), lastWords]);
    expect(run.end, run.tail).toEqual({ kind: 'completed' });
    expect(readFileSync(file, 'utf8')).toBe('two\n');
    expect(run.claim).toEqual({ status: 'fixed', summary: 'one is two' });
    const { body } = requests.find(({ isMain }) => isMain)!;
    expect(body).toContain('EXPANDED-BY-THE-COMMAND-FILE: Fix this error so the test can pass.');
    expect(body).toContain(JSON.stringify('```\nline 1\nline 2\n```').slice(1, -1));
    expect(run.usage.sessionId).toMatch(/^[\w-]{10,}$/);
    if (program.name !== 'copilot') {
      expect(run.usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
    }
    if (program.reportsCost) expect(run.usage.costUsd).toBeGreaterThan(0);
    expect(run.usage.turns).toBeGreaterThan(0);
    expect(run.denials).toEqual([]);
  });

  it('AG-8 is denied an edit outside the project, and says so though it ends well', async () => {
    const outside = path.join(tempDir(), 'outside.txt');
    writeFileSync(outside, 'one\n');
    const { run } = await work(program, () => [...program.edits(outside), lastWords]);
    expect(readFileSync(outside, 'utf8')).toBe('one\n');
    expect(run.end, run.tail).toEqual({ kind: 'completed' });
    expect(run.denials.length).toBeGreaterThan(0);
  });

  it('AG-6 401 is for a person, with the remedy', async () => {
    const { run } = await work(program, () => [{ status: 401 }]);
    expect(run.end).toMatchObject({ kind: 'unusable', remedy: expect.stringMatching(/log ?in|set /i) });
  });

  it.each([429, 503, 529])('AG-6 %i is waited for, and the program’s own retries are few', async (status) => {
    const { run, requests } = await work(program, () => [{ status }]);
    expect(run.end).toMatchObject({ kind: 'retryable' });
    expect(requests.filter(({ isMain }) => isMain).length).toBeLessThanOrEqual(25);
  });

  it('AG-6 a dropped connection is waited for', async () => {
    const { run } = await work(program, () => ['drop']);
    expect(run.end).toMatchObject({ kind: 'retryable' });
  });

  it('AG-6 a prompt that is too long is told from all else', async () => {
    const { run, requests } = await work(program, () => [program.tooLong]);
    expect(run.end).toMatchObject({ kind: 'context-overflow' });
    expect(requests.filter(({ isMain }) => isMain).length).toBeLessThan(20);
  });

  it('AG-9 a session that is gone is told from a program that cannot work', async () => {
    const { run } = await work(program, () => [lastWords], '01a1fdd5-f1ff-70f1-88bf-730459bcf810');
    expect(run.end.kind).toBe('unusable');
    const { reason } = run.end as { reason: string };
    expect(classifyAgentError(reason).reason).toBe('session-unknown');
  });

  it('EV-9 gives the program no variable of the project', async () => {
    const { requests, run } = await work(program, () => [lastWords]);
    expect(run.end).toEqual({ kind: 'completed' });
    expect(JSON.stringify(requests)).not.toContain('must-not-be-seen');
  });
});
