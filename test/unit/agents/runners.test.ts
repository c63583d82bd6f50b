import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentEnvironment } from '../../../src/agents/agent-environment.js';
import { codexReader, codexRunner } from '../../../src/agents/runners/codex.js';
import { copilotReader, copilotRunner } from '../../../src/agents/runners/copilot.js';
import { geminiReader, geminiRunner } from '../../../src/agents/runners/gemini.js';
import { opencodeReader, opencodeRunner } from '../../../src/agents/runners/opencode.js';
import type { AgentWork, OutputReader } from '../../../src/agents/runner.js';
import { commandFileOf, expandCommand, findCommandFile } from '../../../src/agents/slash-command.js';
import { agentTask } from '../../rig/agent-task.js';
import { tempDir } from '../../rig/temp-dir.js';

const work = (over: Partial<AgentWork> = {}): AgentWork => ({
  ...agentTask('hangs'),
  extraArgs: [],
  ...over,
});

/** Lines in the shapes that the programs print; objects become JSON. */
function read(reader: OutputReader, ...lines: (object | string)[]) {
  const seen = lines.map((line) => reader.line(typeof line === 'string' ? line : JSON.stringify(line)));
  return { seen, came: reader.result() };
}

const signal = 'SELF-HEAL: {"status":"fixed","summary":"a policy"}';

describe('Codex', () => {
  it('AG-1 may write in the project and no more, gets the prompt by stdin and the picture as one', () => {
    const { file, args, input } = codexRunner.command(
      work({ screenshot: '/p/shot.png', extraArgs: ['-m', 'big'] }),
    );
    expect([file, args[0], args.at(-1)]).toEqual(['codex', 'exec', '-']);
    expect(args.join(' ')).toContain('--json -i /p/shot.png --skip-git-repo-check -s workspace-write');
    expect(args.join(' ')).toContain('-m big');
    expect(input).toContain('Fix this error');
    expect(codexRunner.expandsCommands).toBe(false);
  });

  it('AG-9 AG-3 reads session, tokens and claim', () => {
    const { seen, came } = read(
      codexReader(),
      { type: 'thread.started', thread_id: 'th-1' },
      { type: 'item.completed', item: { type: 'error', text: 'Model metadata not found' } },
      { type: 'item.completed', item: { type: 'agent_message', text: `Done.\n${signal}` } },
      { type: 'turn.completed', usage: { input_tokens: 10, output_tokens: 2 } },
    );
    expect(came).toMatchObject({
      claim: { status: 'fixed', summary: 'a policy' },
      usage: { sessionId: 'th-1', inputTokens: 10, outputTokens: 2 },
      trouble: null,
    });
    expect(seen.map((one) => one.complete)).toEqual([false, false, false, true]);
  });

  it.each([
    ['unexpected status 401 Unauthorized: no', { kind: 'unusable' }],
    ['exceeded retry limit, last status: 429 Too Many Requests', { kind: 'troubled', trouble: 'retryable' }],
    ['Quota exceeded. Check your plan and billing details.', { kind: 'unusable' }],
    [
      "Codex ran out of room in the model's context window.",
      { kind: 'troubled', trouble: 'context_overflow' },
    ],
  ])('AG-6 AG-7 %s', (message, trouble) => {
    expect(read(codexReader(), { type: 'turn.failed', error: { message } }).came.trouble).toMatchObject(
      trouble,
    );
  });

  it('AG-8 names a refused edit', () => {
    const item = { type: 'file_change', status: 'declined', changes: [{ path: 'a.ts' }] };
    expect(read(codexReader(), { type: 'item.completed', item }).came.denials).toEqual(['file_change']);
  });
});

describe('Gemini CLI', () => {
  it('AG-1 may edit, trusts the folder for this run, and gets the slash command first', () => {
    const { file, args, env, input } = geminiRunner.command(work({ screenshot: '/p/shot.png' }));
    expect([file, args.join(' ')]).toEqual(['gemini', '--approval-mode auto_edit -o stream-json']);
    expect(env).toEqual({ GEMINI_CLI_TRUST_WORKSPACE: 'true' });
    expect(input).toMatch(/^\/debugger [^]*@\/p\/shot\.png\n$/);
  });

  it('AG-9 AG-3 reads session, tokens and claim', () => {
    const { came } = read(
      geminiReader(),
      'Loaded cached credentials.',
      { type: 'init', session_id: 's-1' },
      { type: 'message', role: 'user', content: 'Fix applied successfully' },
      { type: 'message', role: 'assistant', content: 'Mended.\n', delta: true },
      { type: 'message', role: 'assistant', content: signal, delta: true },
      { type: 'result', status: 'success', stats: { input_tokens: 7, output_tokens: 3 } },
    );
    expect(came).toMatchObject({
      claim: { status: 'fixed', summary: 'a policy' },
      usage: { sessionId: 's-1', inputTokens: 7, outputTokens: 3 },
      trouble: null,
    });
  });

  it('AG-6 an error in a result, and one in plain text, are told apart', () => {
    const error = { message: 'got status: 503 UNAVAILABLE. The model is overloaded' };
    expect(read(geminiReader(), { type: 'result', status: 'error', error }).came.trouble).toMatchObject({
      kind: 'troubled',
    });
    expect(read(geminiReader(), 'Error: API key not valid', '    at f (x.js:1:1)').came.trouble).toEqual({
      kind: 'silent',
      text: 'Error: API key not valid\n    at f (x.js:1:1)',
    });
  });
});

describe('opencode', () => {
  it('AG-1 runs the slash command by its name, with the prompt as its arguments by stdin', () => {
    const prompt = '/debugger Fix this error so the test can pass.\n\nmore';
    const { file, args, input } = opencodeRunner.command(work({ prompt, resume: 'ses_1' }));
    expect([file, ...args]).toEqual('opencode run --format json -s ses_1 --command debugger'.split(' '));
    expect(input).toBe('Fix this error so the test can pass.\n\nmore');
  });

  it('AG-9 adds up cost and tokens of its steps', () => {
    const part = { reason: 'tool-calls', cost: 0.01, tokens: { input: 100, output: 10 } };
    const { came } = read(
      opencodeReader(),
      { type: 'step_finish', sessionID: 'ses_1', part },
      { type: 'text', sessionID: 'ses_1', part: { text: signal } },
      { type: 'step_finish', sessionID: 'ses_1', part: { ...part, reason: 'stop' } },
    );
    expect(came).toMatchObject({
      claim: { status: 'fixed' },
      usage: { costUsd: 0.02, inputTokens: 200, outputTokens: 20, turns: 2, sessionId: 'ses_1' },
      trouble: null,
    });
  });

  it('AG-6 AG-8 knows an overflow, and a permission that was refused', () => {
    const error = { name: 'ContextOverflowError', data: { message: 'too long' } };
    expect(read(opencodeReader(), { type: 'error', error }).came.trouble).toMatchObject({
      trouble: 'context_overflow',
    });
    const refused = 'permission requested: external_directory (/etc); auto-rejecting';
    expect(read(opencodeReader(), refused).came).toMatchObject({
      denials: ['external_directory'],
      trouble: null,
    });
  });
});

describe('Copilot CLI', () => {
  it('AG-1 may write and nothing more', () => {
    const { file, args } = copilotRunner.command(work({ screenshot: '/p/shot.png' }));
    expect([file, ...args]).toEqual(
      'copilot --allow-tool write --no-ask-user --output-format json --attachment /p/shot.png'.split(' '),
    );
    expect(copilotRunner.expandsCommands).toBe(false);
  });

  it('AG-6 AG-9 reads its session and its errors', () => {
    const result = { type: 'result', exitCode: 0, sessionId: 'u-1' };
    expect(read(copilotReader(), result).came).toMatchObject({ usage: { sessionId: 'u-1' }, trouble: null });
    const error = { type: 'session.error', data: { message: 'no', statusCode: 401 } };
    expect(read(copilotReader(), error).came.trouble).toMatchObject({ kind: 'unusable' });
  });
});

describe('slash commands that a program does not expand', () => {
  const project = (file: string, text: string) => {
    const cwd = tempDir('commands größe');
    mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true });
    writeFileSync(path.join(cwd, file), text);
    return { cwd, home: path.join(cwd, 'home') };
  };

  it('AG-1 become the text of their file, with the arguments filled in', async () => {
    const where = project(
      '.codex/prompts/debugger.md',
      '---\r\ndescription: x\r\n---\r\nYou debug.\n$ARGUMENTS\nGo.\n',
    );
    expect(await expandCommand('codex', '/debugger Fix $& this.\n\nmore\n', where)).toBe(
      'You debug.\nFix $& this.\n\nmore\n\nGo.',
    );
  });

  it('AG-1 are followed by their arguments where the file has no place for them', async () => {
    const where = project('.claude/commands/debugger.md', 'You debug.');
    expect(await expandCommand('copilot', '/debugger Fix this.', where)).toBe('You debug.\n\nFix this.');
  });

  it.each([
    ['claude', '/sub:debugger', '.claude/commands/sub/debugger.md'],
    ['codex', '/debugger', '.codex/prompts/debugger.md'],
    ['gemini', '/debugger', '.gemini/commands/debugger.toml'],
    ['opencode', '/debugger --deep', '.opencode/command/debugger.md'],
    ['copilot', '/debugger', '.github/prompts/debugger.prompt.md'],
  ] as const)('AG-1 of %s: %s lies in %s', async (program, slashCommand, file) => {
    expect(commandFileOf(program, slashCommand)).toBe(file);
    const where = project(file, 'x');
    expect(await findCommandFile(program, slashCommand, where)).toBe(path.join(where.cwd, file));
    expect(await findCommandFile(program, '/other', where)).toBeNull();
  });
});

describe('the environment of a built-in program', () => {
  it('EV-9 AG-1 is an allow-list: what it needs, its own keys, and what agents.yaml names', () => {
    const env = {
      PATH: '/bin',
      HOME: '/h',
      https_proxy: 'http://p',
      ANTHROPIC_API_KEY: 'a',
      OPENAI_API_KEY: 'o',
      GITHUB_TOKEN: 'g',
      DATABASE_URL: 'd',
      STRIPE_KEY: 's',
    };
    expect(Object.keys(agentEnvironment('claude', env, ['DATABASE_URL']))).toEqual([
      'PATH',
      'HOME',
      'https_proxy',
      'ANTHROPIC_API_KEY',
      'DATABASE_URL',
    ]);
    expect(agentEnvironment('codex', env, [])).not.toHaveProperty('ANTHROPIC_API_KEY');
  });
});
