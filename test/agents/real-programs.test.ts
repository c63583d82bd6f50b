import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRunAgent } from '../../src/agents/create-run-agent.js';
import { expandPrompt } from '../../src/agents/expand-command.js';
import { classifyAgentError } from '../../src/agents/api-error.js';
import type { AgentTask } from '../../src/agents/runner.js';
import type { AgentRun } from '../../src/model/attempt.js';
import { agentTask } from '../rig/agent-task.js';
import { tempDir } from '../rig/temp-dir.js';
import {
  question,
  commandFile,
  finalMessage,
  realPrograms,
  runnerSettings,
  useOnlyEnv,
  type RealProgram,
} from './real-program.js';
import { startStubApi, type SeenRequest, type Step } from './stub-api.js';

const runAgent = createRunAgent();
const words = 'Fix this error so the test can pass.\n\n## Error\n\n```\nline 1\nline 2\n```\n';

interface Seen {
  readonly run: AgentRun;
  readonly requests: readonly SeenRequest[];
  readonly file: string;
}

/** Runs the program in a project with a file that says `one`, against a provider that takes these steps. */
async function work(
  program: RealProgram,
  stepsFor: (file: string) => readonly Step[],
  { resume = null, token }: Pick<AgentTask, 'resume' | 'token'> = {},
): Promise<Seen> {
  const { name } = program;
  const task = agentTask('hangs', {
    runner: runnerSettings(program),
    agent: { name: 'debugger', slashCommand: '/debugger', runner: name, timeoutMs: 120_000 },
    prompt: `/debugger ${words}`,
    resume,
    token,
  });
  for (const [file, text] of Object.entries(commandFile(program))) {
    mkdirSync(path.dirname(path.join(task.cwd, file)), { recursive: true });
    writeFileSync(path.join(task.cwd, file), text);
  }
  const file = path.join(task.cwd, 'a.txt');
  writeFileSync(file, 'one\n');
  await using stub = await startStubApi(stepsFor(file));
  const env = { ...program.env(stub.url), SECRET_OF_THE_PROJECT: 'must-not-be-seen' };
  useOnlyEnv(env);
  const prompt = await expandPrompt(task.runner, task.prompt, { cwd: task.cwd, clean: (text) => text });
  const run = await runAgent({ ...task, prompt });
  return { run, requests: stub.requests, file };
}

describe.each(realPrograms)('$name', (program) => {
  const isAcp = runnerSettings(program).kind === 'acp';
  const reportsTokens = program.name !== 'copilot';

  it('AG-1 AG-3 AG-9 follows the expanded command; its claim, session and usage are read', async () => {
    const { run, requests, file } = await work(program, (file) => [...program.edits(file), finalMessage]);
    expect(run.end, run.tail).toEqual({ kind: 'completed' });
    expect(readFileSync(file, 'utf8')).toBe('two\n');
    expect(run.claim).toEqual({ status: 'fixed', summary: 'one is two' });
    const { body } = requests.find(({ isMain }) => isMain)!;
    expect(body).toContain('EXPANDED-BY-THE-COMMAND-FILE: Fix this error so the test can pass.');
    // A program that expands the command itself is only told which file holds it.
    if (!['claude', 'opencode', 'claude-agent-acp'].includes(program.name)) {
      expect(body).toContain(JSON.stringify('```\nline 1\nline 2\n```').slice(1, -1));
    }
    expect(run.usage.sessionId).toMatch(/^[\w-]{10,}$/);
    if (reportsTokens) {
      expect(run.usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
    }
    if (program.reportsCost) expect(run.usage.costUsd).toBeGreaterThan(0);
    if (!isAcp) expect(run.usage.turns).toBeGreaterThan(0);
    expect(run.denials).toEqual([]);
  });

  it('HN-11 reviews a fix', async () => {
    const opinion = { verdict: 'hides', file: 'a.txt', line: 1, why: 'one is still one' };
    const token = '3f9a1c07';
    const answer = { text: `I read it.\nSELF-HEAL ${token}: ${JSON.stringify(opinion)}` };
    const { run } = await work(program, () => [answer], { token });
    expect(run.end, run.tail).toEqual({ kind: 'completed' });
    expect(run.opinion).toEqual(opinion);
  });

  it('AG-8 reports a denied edit outside the project even if the agent completes', async () => {
    const outside = path.join(tempDir(), 'outside.txt');
    const { run } = await work(program, () => [program.creates(outside), finalMessage]);
    expect(existsSync(outside)).toBe(false);
    expect(run.end, run.tail).toEqual({ kind: 'completed' });
    // Gemini CLI refuses by itself, and does not say what.
    if (program.name !== 'gemini') expect(run.denials.length).toBeGreaterThan(0);
  });

  it('AG-8 asks a person after a refused command, and does not call it a denied edit', async () => {
    const { run } = await work(program, () => [program.runs, question]);
    expect(run).toMatchObject({ end: { kind: 'completed' }, denials: [], claim: { status: 'needs-person' } });
  });

  it('AG-6 is reported as unusable after a 401, with a remedy', async () => {
    const { run } = await work(program, () => [{ status: 401 }]);
    expect(run.end).toMatchObject({ kind: 'unusable', remedy: expect.stringMatching(/log ?in|set /i) });
  });

  // It retries silently for minutes (0.61.0).
  const retriesLong = program.name === 'gemini';

  it.skipIf(retriesLong).each([429, 503, 529])(
    'AG-6 ends as retryable on HTTP %i after a few retries of its own',
    async (status) => {
      const { run, requests } = await work(program, () => [{ status }]);
      expect(run.end).toMatchObject({ kind: 'retryable' });
      expect(requests.filter(({ isMain }) => isMain).length).toBeLessThanOrEqual(25);
    },
  );

  it.skipIf(retriesLong)('AG-6 ends as retryable on a dropped connection', async () => {
    const { run } = await work(program, () => ['drop']);
    expect(run.end).toMatchObject({ kind: 'retryable' });
  });

  it('AG-6 reports a prompt that is too long as a context overflow', async () => {
    const { run, requests } = await work(program, () => [program.tooLong]);
    expect(run.end, run.tail).toMatchObject({ kind: 'context-overflow' });
    expect(requests.filter(({ isMain }) => isMain).length).toBeLessThan(20);
  });

  it('AG-9 reports that the session to resume is unknown', async () => {
    const { run } = await work(program, () => [finalMessage], {
      resume: '01a1fdd5-f1ff-70f1-88bf-730459bcf810',
    });
    expect(run.end.kind).toBe('unusable');
    const { reason } = run.end as { reason: string };
    expect(classifyAgentError(reason).reason).toBe('session-unknown');
  });

  it('EV-9 gets none of the project’s environment variables', async () => {
    const { requests, run } = await work(program, () => [finalMessage]);
    expect(run.end).toEqual({ kind: 'completed' });
    expect(JSON.stringify(requests)).not.toContain('must-not-be-seen');
  });
});
