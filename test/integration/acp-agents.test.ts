import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRunAgent } from '../../src/agents/create-run-agent.js';
import type { AgentTask } from '../../src/agents/runner.js';
import { checkLogin } from '../../src/clients/doctor/logins.js';
import type { AgentRun } from '../../src/model/attempt.js';
import type { RunnerSettings } from '../../src/model/settings.js';
import { findOwnedProcesses } from '../../src/process/end-processes.js';
import { agentTask } from '../rig/agent-task.js';
import { writeInto } from '../rig/agent-workspace.js';
import { simulatedRun } from '../rig/simulated-run.js';
import { tempDir } from '../rig/temp-dir.js';

const program = path.resolve(import.meta.dirname, '../../fixtures/agents/speaks-acp.mjs');
const runAgent = createRunAgent({ graceMs: 500, settleMs: 500 });

afterEach(() => vi.restoreAllMocks());

type Over = Partial<AgentTask> & { allow?: readonly string[]; timeoutMs?: number };

function taskOf([behaviour, argument = '']: readonly [string, string?], over: Over = {}): AgentTask {
  const { allow, timeoutMs = 30_000, ...rest } = over;
  const command = [process.execPath, program, behaviour, argument];
  const runner: RunnerSettings = { kind: 'acp', program: 'own', command, ...(allow && { allow }) };
  const agent = { name: 'debugger', slashCommand: '/debugger', runner: 'own', timeoutMs };
  const task = agentTask('hangs', { prompt: 'Fix this error.', ...rest, runner, agent });
  writeInto(task.cwd, { 'a.txt': 'zero\nzero\none\n' });
  return task;
}

interface Ended extends AgentRun {
  readonly log: string;
  readonly text: string;
  /** The answers to the agent's requests. */
  readonly seen: string;
}

/** Runs an agent, and asserts that nothing of it is left, and that nothing is printed on our terminal. */
async function run(task: AgentTask): Promise<Ended> {
  const printed = vi.spyOn(console, 'error');
  const ended = await runAgent(task);
  expect(await findOwnedProcesses({ runId: task.runId })).toEqual([]);
  expect(printed).not.toHaveBeenCalled();
  const seen = path.join(task.cwd, 'seen.txt');
  return {
    ...ended,
    log: readFileSync(task.logFile, 'utf8'),
    text: readFileSync(path.join(task.cwd, 'a.txt'), 'utf8'),
    seen: existsSync(seen) ? readFileSync(seen, 'utf8') : '',
  };
}

describe('an agent over the Agent Client Protocol', () => {
  it('AG-1 AG-3 AG-9 edits its copy and reports claim, usage and session', async () => {
    const { end, claim, usage, text, denials } = await run(taskOf(['edits']));
    expect(end).toEqual({ kind: 'completed' });
    expect(claim).toEqual({ status: 'fixed', summary: 'as edits' });
    expect(text).toBe('zero\nzero\ntwo\n');
    const reported = { costUsd: 0.25, inputTokens: 12, outputTokens: 3, turns: null, sessionId: 's1' };
    expect([usage, denials]).toEqual([reported, []]);
  });

  it('AG-11 shows its plan and tool calls while it works, and logs them', async () => {
    const shown: string[] = [];
    const { log } = await run(taskOf(['edits'], { onActivity: (text) => void shown.push(text) }));
    expect(shown[0]).toBe('plan 1/2: mend it');
    expect(log).toContain('plan 1/2: mend it\nediting a.txt:3\n');
  });

  it('AG-9 continues its session, ignoring claims from the history', async () => {
    const { end, claim, usage } = await run(taskOf(['does-nothing'], { resume: 's1' }));
    expect([end.kind, claim, usage.sessionId]).toEqual(['completed', null, 's1']);
  });

  it('AG-9 reports that its earlier session no longer exists', async () => {
    const { end } = await run(taskOf(['edits'], { resume: 's2' }));
    expect(end).toMatchObject({ kind: 'unusable', reason: expect.stringContaining('session not found') });
  });

  it('AG-1 sends a slash command that the program advertises as it is, on one line', async () => {
    const task = taskOf(['echoes-its-prompt', 'debugger'], { prompt: '/debugger It is red.\nVery.' });
    expect((await run(task)).log).toContain(`/debugger It is red. First read all of ${task.promptFile}`);
  });

  it('AG-1 expands a slash command that the program does not know', async () => {
    const task = taskOf(['echoes-its-prompt'], { prompt: '/debugger It is red.' });
    writeInto(task.cwd, { '.claude/commands/debugger.md': 'Mend: $ARGUMENTS\n' });
    expect((await run(task)).log).toContain('Mend: It is red.');
  });

  it('AG-1 calls no model if the slash command does not exist', async () => {
    const { end, log } = await run(taskOf(['edits'], { prompt: '/gone It is red.' }));
    expect(end).toMatchObject({
      kind: 'unusable',
      remedy: expect.stringContaining('.agents/commands/gone.md'),
    });
    expect(log).not.toContain('plan');
  });

  it('AG-2 shows the screenshot only to a program that takes images', async () => {
    const screenshot = path.join(tempDir(), 's.png');
    writeFileSync(screenshot, 'x');
    expect((await run(taskOf(['echoes-its-prompt'], { screenshot }))).log).not.toContain('[image]');
  });
});

describe('what an agent over the Agent Client Protocol may do', () => {
  const outside = () => path.join(tempDir('outside'), 'a.txt');
  const places: readonly (readonly [how: string, place: (cwd: string) => string])[] = [
    ['by its path', outside],
    ['by ..', (cwd) => `${cwd}/../escaped.txt`],
    [
      'by a link',
      (cwd) => {
        symlinkSync(tempDir('outside'), path.join(cwd, 'link'));
        return path.join(cwd, 'link', 'a.txt');
      },
    ],
    [
      'by a link to nothing',
      (cwd) => {
        symlinkSync(outside(), path.join(cwd, 'link'));
        return path.join(cwd, 'link');
      },
    ],
    ['by another case', (cwd) => path.join(cwd.toUpperCase(), 'a.txt')],
  ];

  it.each(places)('AG-11 cannot read or write a file outside of its copy: %s', async (_, placeFor) => {
    const cwd = tempDir('copy');
    mkdirSync(path.join(cwd, 'attempts'));
    const place = placeFor(cwd);
    const over = { cwd, logFile: path.join(cwd, 'attempts', '1.log') };
    const { seen, denials, log, end } = await run(taskOf(['writes-where-told', place], over));
    expect(existsSync(place)).toBe(false);
    expect(seen).toMatch(/^refused: .*\nrefused: .*\n$/);
    expect([end.kind, denials]).toEqual(['completed', [expect.stringContaining('editing')]]);
    expect(log).toContain('is outside of its copy');
  });

  it.each(places)('AG-11 gets no permission to edit a file outside of its copy: %s', async (_, placeFor) => {
    const cwd = tempDir('copy');
    mkdirSync(path.join(cwd, 'attempts'));
    const over = { cwd, logFile: path.join(cwd, 'attempts', '1.log') };
    const { seen, denials } = await run(taskOf(['asks-where-told', placeFor(cwd)], over));
    expect(seen).toContain('"optionId":"no"');
    expect(denials).toHaveLength(1);
  });

  it('AG-11 gets permission for one edit of its copy at a time', async () => {
    const { seen, denials } = await run(taskOf(['asks-where-told', 'a.txt']));
    expect([seen, denials]).toEqual([expect.stringContaining('"optionId":"once"'), []]);
  });

  it.each([
    ['npm test', [], 'no'],
    ['npm test', ['npm test'], 'once'],
    ['npm test -- a.spec.ts', ['npm test'], 'once'],
    ['npm test; rm -rf /', ['npm test'], 'no'],
    ['npm tests', ['npm test'], 'no'],
  ])('AG-11 runs only the commands that agents.yaml allows: %s %j', async (command, allow, option) => {
    const { seen, denials, log } = await run(taskOf(['asks-to-run', command], { allow }));
    expect(seen).toContain(`"optionId":"${option}"`);
    expect(denials).toEqual([]);
    expect(log.includes(`refused: running ${command}`)).toBe(option === 'no');
  });

  it('AG-11 is told to continue if it ends its turn after a refusal', async () => {
    const { claim, seen } = await run(taskOf(['gives-up-when-refused', 'npm test']));
    expect(claim?.status).toBe('fixed');
    expect(seen).toMatch(/"no"[^]*Continue without it/);
  });

  it('AG-11 cannot write a file after the end of its turn', async () => {
    const { text, seen, end } = await run(taskOf(['writes-after-its-end']));
    expect([text, end.kind]).toEqual(['zero\nzero\none\n', 'completed']);
    expect(seen).not.toContain('null');
  });
});

describe('how an agent over the Agent Client Protocol ends', () => {
  it.each([
    ['end_turn', { kind: 'completed' }],
    ['max_tokens', { kind: 'context-overflow' }],
    ['refusal', { kind: 'limited', reason: 'own: its model refused to answer' }],
    ['max_turn_requests', { kind: 'limited' }],
    ['cancelled', { kind: 'limited' }],
  ])('AG-6 the stop reason decides how it ended: %s', async (reason, end) => {
    expect((await run(taskOf(['stops', reason]))).end).toMatchObject(end);
  });

  it.each([
    ['429 Too Many Requests', { kind: 'retryable' }],
    ['401 Unauthorized', { kind: 'unusable' }],
    ['something else', { kind: 'exited', reason: 'own: Internal error something else' }],
  ])('AG-6 its error decides how it ended: %s', async (text, end) => {
    expect((await run(taskOf(['fails', text]))).end).toMatchObject(end);
  });

  it('AG-5 its error is the reason why its attempt failed', async () => {
    const agentRun = await run(taskOf(['fails', 'something else']));
    const { report } = await simulatedRun(['t1'], () => 'boom', {
      runAgent: async () => agentRun,
      idle: ['1'],
    });
    expect(report.causes[0]?.attempts[0]?.end).toMatchObject({
      because: expect.stringContaining('the agent failed: own: Internal error something else') as string,
    });
  });

  it('AG-6 a response that is only an error message counts as that error', async () => {
    const prompt = 'Error: 429 Too Many Requests';
    expect((await run(taskOf(['echoes-its-prompt'], { prompt }))).end).toMatchObject({ kind: 'retryable' });
  });

  it('AG-6 names the login that the program asks for', async () => {
    expect((await run(taskOf(['needs-a-login']))).end).toMatchObject({
      kind: 'unusable',
      remedy: 'Log in: Log in with Example (example login).',
    });
  });

  it('AG-6 cannot use a program with another version of the protocol', async () => {
    const reason = 'own: it speaks version 99 of the Agent Client Protocol, not 1';
    expect((await run(taskOf(['speaks-version-99']))).end).toMatchObject({ kind: 'unusable', reason });
  });

  it('AG-6 a program that does not speak the protocol counts as exited', async () => {
    const runner = { kind: 'acp', program: 'own', command: [process.execPath, '-e', ''] } as const;
    const task = { ...taskOf(['edits']), runner };
    expect((await run(task)).end).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it.each([
    ['sends-malformed-json', 'a message that is not JSON'],
    ['sends-a-huge-message', 'a message of more than 8 MB'],
  ])('AG-5 fails with the reason if it %s', async (behaviour, why) => {
    const { end, log } = await run(taskOf([behaviour]));
    expect(end).toEqual({ kind: 'exited', exitCode: 1, reason: expect.stringContaining(why) as string });
    expect(log).toContain(why);
    expect(log.length).toBeLessThan(10_000);
  });

  it('AG-5 fails if it dies during its turn', async () => {
    expect((await run(taskOf(['dies']))).end).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('AG-8 may complete without an edit', async () => {
    const { end, claim, text } = await run(taskOf(['does-nothing']));
    expect([end.kind, claim, text]).toEqual(['completed', null, 'zero\nzero\none\n']);
  });

  it('AG-4 AG-10 is ended after its time-out, with its processes in other sessions', async () => {
    const { end } = await run(taskOf(['never-ends'], { timeoutMs: 1500 }));
    expect(end).toEqual({ kind: 'timed-out', afterMs: 1500 });
  });

  it('AG-10 is cancelled over the protocol before any signal, and no later claim counts', async () => {
    const controller = new AbortController();
    const over = { signal: controller.signal, onActivity: () => controller.abort() };
    const { end, seen, claim } = await run(taskOf(['obeys-a-cancellation'], over));
    expect([end.kind, seen, claim]).toEqual(['aborted', 'cancelled\n', null]);
  });

  it('AG-6 only its first response counts', async () => {
    expect((await run(taskOf(['answers-twice']))).end).toEqual({ kind: 'completed' });
  });

  it('EV-11 AG-3 the log keeps the beginning and the end of a flood of messages', async () => {
    const { end, claim, log } = await run(taskOf(['floods', '64']));
    expect([end.kind, claim?.summary]).toEqual(['completed', 'as floods']);
    expect(log.length).toBeLessThan(8 * 1024 * 1024);
  });
});

describe('the login of an agent over the Agent Client Protocol', () => {
  it.each([
    ['edits', { state: 'in' }],
    ['needs-a-login', { state: 'out', remedy: expect.stringContaining('Log in with Example') as string }],
    ['speaks-version-99', { state: 'unknown', why: expect.stringContaining('version 99') as string }],
  ])('CL-11 is checked without a prompt: %s', async (behaviour, state) => {
    const runner = { kind: 'acp', program: 'own', command: [process.execPath, program, behaviour] } as const;
    expect(await checkLogin(runner, { cwd: tempDir(), env: process.env })).toMatchObject(state);
  });
});
