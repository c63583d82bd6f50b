import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reduceContext } from '../../../src/agents/build-context.js';
import { findMissingAgents } from '../../../src/agents/check-agents.js';
import { type ClaudeCopy, createClaudeFlags } from '../../../src/agents/claude-project.js';
import { claudeRunner } from '../../../src/agents/claude-runner.js';
import { codexRunner } from '../../../src/agents/codex-runner.js';
import { locateCommandFile } from '../../../src/agents/command-files.js';
import { expandPrompt, fillArguments, readTomlPrompt } from '../../../src/agents/expand-command.js';
import { selectEnv } from '../../../src/agents/create-run-agent.js';
import type { Conversation, OutputStream, Runner } from '../../../src/agents/runner.js';
import { type BuiltInRunner, builtInRunners } from '../../../src/model/built-in.js';
import type { RunnerSettings } from '../../../src/model/settings.js';
import { aContext } from '../../rig/agent-context.js';
import { agentTask } from '../../rig/agent-task.js';
import { someSettings } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const runners = {
  claude: claudeRunner,
  codex: codexRunner,
};

describe('how a program is started', () => {
  it.each(['claude', 'codex'] as const)(
    'AG-1 %s gets the arguments of agents.yaml, and the prompt on its standard input',
    (kind) => {
      const runner = { kind, args: ['--model', 'haiku'] };
      const { args, input, passedVariables } = runners[kind].createCommand(agentTask('hangs', { runner }));
      expect(args.join(' ')).toContain('--model haiku');
      expect(input).toContain('Fix this error so the test can pass.');
      expect(args.join(' ')).not.toContain('Fix this error');
      expect(passedVariables).not.toBe('everything');
    },
  );

  it.each([
    ['claude', '--permission-mode acceptEdits'],
    ['codex', 'sandbox_mode="workspace-write"'],
  ] as const)('AG-1 %s may edit the project and nothing else: %s', (kind, words) => {
    const { args } = runners[kind].createCommand(agentTask('hangs', { runner: { kind } }));
    expect(args.join(' ')).toContain(words);
    expect(args.join(' ')).not.toMatch(/yolo|dangerously|allow-all|bypass|full-access/);
  });

  it.each([
    ['claude', '--resume s1'],
    ['codex', 'exec resume --json'],
  ] as const)('AG-9 %s resumes a session: %s', (kind, words) => {
    const task = agentTask('hangs', { runner: { kind }, resume: 's1' });
    expect(runners[kind].createCommand(task).args.join(' ')).toContain(words);
    expect(runners[kind].createCommand({ ...task, resume: null }).args.join(' ')).not.toContain('s1');
  });

  it('AG-1 passes a program the basic environment variables, those on its list, and no others', () => {
    const env = {
      PATH: '/bin',
      Path: 'C:\\',
      DATABASE_URL: 'secret',
      ANTHROPIC_API_KEY: 'k',
      https_proxy: 'p',
    };
    const passed = selectEnv(env, ['ANTHROPIC_*']);
    expect(passed).toEqual({ PATH: '/bin', Path: 'C:\\', ANTHROPIC_API_KEY: 'k', https_proxy: 'p' });
    expect(selectEnv(env, 'everything')).toEqual(env);
  });

  it('HN-1 passes no program the repository of the git hook that runs self-heal', () => {
    const local = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' });
    const variables = local.split('\n').filter((name) => name !== '' && !name.startsWith('GIT_CONFIG'));
    expect(variables).toContain('GIT_DIR');
    const env = Object.fromEntries(['PATH', 'GIT_SSH_COMMAND', ...variables].map((name) => [name, 'x']));
    expect(selectEnv(env, 'everything')).toEqual({ PATH: 'x', GIT_SSH_COMMAND: 'x' });
    expect(selectEnv(env, ['GIT_*'])).toEqual({ PATH: 'x', GIT_SSH_COMMAND: 'x' });
  });
});

function runnerOf(name: BuiltInRunner): RunnerSettings {
  if (name === 'claude' || name === 'codex') return { kind: name };
  return { kind: 'acp', program: name, command: [name] };
}

describe('slash commands', () => {
  it.each(builtInRunners)(
    'AG-1 a command that does not exist for %s is reported before anything runs',
    async (kind) => {
      const dir = tempDir();
      const bin = path.join(dir, 'node_modules', '.bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(path.join(bin, kind), '#!/bin/sh\n', { mode: 0o755 });
      const plain = someSettings();
      const settings = {
        ...plain,
        runners: { own: runnerOf(kind) },
        agents: { fixer: { name: 'fixer', slashCommand: '/no-such-one', runner: 'own', timeoutMs: 1 } },
        routes: {
          ...plain.routes,
          ...Object.fromEntries(Object.keys(plain.routes).map((category) => [category, ['fixer']])),
        },
      };
      const problem = (await findMissingAgents(settings, dir)).get('fixer');
      expect(problem).toMatchObject({
        kind: 'agent-not-installed',
        message: `the slash command /no-such-one does not exist for ${kind}`,
        remedy: expect.stringContaining(locateCommandFile(kind, '/no-such-one')),
      });
      const file = path.join(dir, locateCommandFile(kind, '/no-such-one'));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, 'x');
      expect(await findMissingAgents(settings, dir)).toEqual(new Map());
    },
  );

  it('AG-1 expands a slash command for a program that does not', async () => {
    const dir = tempDir();
    mkdirSync(path.join(dir, '.codex', 'prompts'), { recursive: true });
    writeFileSync(
      path.join(dir, '.codex', 'prompts', 'fix.md'),
      '---\ndescription: x\n---\nMend: $ARGUMENTS\n',
    );
    const at = { cwd: dir, clean: (text: string) => text };
    expect(await expandPrompt({ kind: 'codex' }, '/fix It\n\nis $& red\n', at)).toBe(
      'Mend: It\n\nis $& red\n',
    );
    expect(await expandPrompt({ kind: 'claude' }, '/fix It', at)).toBe('/fix It');
    expect(await expandPrompt({ kind: 'codex' }, '/gone It', at)).toBe('/gone It');
  });

  it.each([
    ['no placeholder', 'Mend it.', 'Mend it.\n\na b\n'],
    ['one placeholder per word', 'Mend $1, then $2 and $3.', 'Mend a, then b and .\n'],
  ])('AG-1 fills in the arguments: %s', (_, text, filled) => expect(fillArguments(text, 'a b')).toBe(filled));

  it.each([
    ['description = "x"\nprompt = """\nMend \\"it\\": {{args}}\n"""\n', 'Mend "it": {{args}}\n'],
    ["prompt = '''\na\\n\nb'''", 'a\\n\nb'],
    ['prompt = "one\\ntwo"', 'one\ntwo'],
  ])('AG-1 reads the prompt of a Gemini CLI command: %j', (toml, prompt) => {
    expect(readTomlPrompt(toml)).toBe(prompt);
  });
});

it('AG-7 reduced evidence keeps the failure itself, and notes the omission', () => {
  const reduced = reduceContext(
    aContext({ serverOutput: 'x'.repeat(50_000), ariaSnapshot: '- page', cut: ['console'] }),
  );
  expect(JSON.stringify(reduced).length).toBeLessThan(4000);
  expect(reduced).toMatchObject({
    test: { id: 't1' },
    ariaSnapshot: null,
    error: { message: 'Error: boom' },
  });
  expect(reduced.cut).toHaveLength(2);
});

function copied(): ClaudeCopy & { readonly home: string } {
  const root = path.join(tempDir('folder'), 'copy');
  mkdirSync(path.join(root, '.claude'), { recursive: true });
  return { cwd: root, root, project: tempDir('project'), home: tempDir('home') };
}

const json = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value));

it('HN-1 AG-1 applies the permissions of the project and its user to the copy', () => {
  const at = copied();
  const allow = (...rules: string[]) => ({ permissions: { allow: rules } });
  json(path.join(at.cwd, '.claude/settings.json'), allow('Bash(npx playwright test *)', 'Read'));
  json(path.join(at.cwd, '.claude/settings.local.json'), allow('Read', `Edit(/${at.project}/src/**)`));
  json(path.join(at.home, '.claude.json'), { projects: { [at.project]: { allowedTools: ['Bash(make)'] } } });
  const [flag, value = ''] = createClaudeFlags(at, { HOME: at.home });
  expect(flag).toBe('--settings');
  expect(JSON.parse(value)).toEqual(
    allow('Bash(npx playwright test *)', 'Read', `Edit(/${at.cwd}/src/**)`, 'Bash(make)'),
  );
});

it('HN-1 EV-9 passes on the user’s MCP servers in a private file, with paths in the copy', () => {
  const at = copied();
  const server = { command: 'db', args: ['--root', at.project], env: { KEY: 'secret' } };
  json(path.join(at.home, '.claude.json'), { projects: { [at.project]: { mcpServers: { db: server } } } });
  const flags = createClaudeFlags(at, { CLAUDE_CONFIG_DIR: at.home });
  const file = path.join(path.dirname(at.root), 'claude-mcp.json');
  expect(flags).toEqual(['--mcp-config', file]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    mcpServers: { db: { ...server, args: ['--root', at.cwd] } },
  });
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

it.each(['', '{', '{"permissions":{"allow":"all"}}'])(
  'HN-1 leaves it to Claude Code to report invalid settings: %j',
  (text) => {
    const at = copied();
    writeFileSync(path.join(at.cwd, '.claude/settings.json'), text);
    writeFileSync(path.join(at.home, '.claude.json'), text);
    expect(createClaudeFlags(at, { HOME: at.home })).toEqual([]);
  },
);

/** A result line in the shape that Claude Code 2.1.329 prints. */
const resultLine = (over: object) =>
  JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: false,
    api_error_status: null,
    num_turns: 3,
    result: 'Fix applied successfully',
    session_id: '9b2f',
    total_cost_usd: 0.00234,
    usage: { input_tokens: 360, output_tokens: 45 },
    permission_denials: [],
    terminal_reason: 'completed',
    ...over,
  });

/** Follows a program; `shown`, `isFinished` and `isStopped` say what its output has led to. */
function follow(runner: Runner) {
  const seen = { shown: new Array<string>(), isFinished: false, isStopped: false };
  const { readLine, result }: Conversation = runner.openConversation(agentTask('hangs'), {
    log: () => undefined,
    show: (text) => void seen.shown.push(text),
    finish: () => void (seen.isFinished = true),
    stop: () => void (seen.isStopped = true),
    clean: (text) => text,
  });
  return { seen, result, read: (line: string, from: OutputStream = 'stdout') => readLine?.(line, from) };
}

describe('Claude Code’s stream-json', () => {
  it.each([
    ['not logged in', { is_error: true, num_turns: 1, result: 'Not logged in · Please run /login' }, /login/],
    ['no credit', { is_error: true, api_error_status: 400, result: 'Credit balance is too low' }, /credit/],
    ['unknown command', { num_turns: 0, result: 'Unknown command: /nope' }, /slash command/],
  ])('AG-8 recognizes an error that only a person can fix: %s', (_, over, remedy) => {
    const { read, result } = follow(claudeRunner);
    read(resultLine(over));
    expect(result().error).toMatchObject({ kind: 'unusable', remedy: expect.stringMatching(remedy) });
  });

  it('AG-8 does not report a missing login because an agent mentions one', () => {
    const { read, result } = follow(claudeRunner);
    read(resultLine({ result: 'The page said: Not logged in. Fixed.' }));
    expect(result().error).toBeNull();
  });
});

// What the real programs wrote when they ran against a stub of their provider (Claude Code 2.1.332, and 2.1.329 in drop and long; Codex
// 0.169.0, Gemini CLI 0.61.0, opencode 1.18.33, Copilot CLI 1.0.102); paths are replaced, very long lines are left out.

it('HN-11 reads the review only from the last message of Codex', () => {
  const { read, result } = follow(codexRunner);
  for (const text of ['early', 'late'])
    read(JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } }));
  expect(result().finalMessage).toBe('late');
});

function replay(program: keyof typeof runners, scenarioFile: string) {
  const { read, seen, result } = follow(runners[program]);
  const file = path.join(import.meta.dirname, 'recorded', `${program}-${scenarioFile}.jsonl`);
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [from, text] = JSON.parse(line) as [OutputStream, string];
    read(text, from);
  }
  return { ...seen, result: result() };
}

describe.each(['claude', 'codex'] as const)('recorded output of %s', (program) => {
  it('AG-3 AG-9 a successful fix has a claim, a session, an end and no error', () => {
    const { shown, isFinished, isStopped, result } = replay(program, 'ok');
    expect(result).toMatchObject({
      claim: { status: 'fixed', summary: 'one is two' },
      denials: [],
      error: null,
      usage: { sessionId: expect.stringMatching(/^[\w-]{10,}$/) },
    });
    expect({ isFinished, isStopped }).toEqual({ isFinished: true, isStopped: false });
    expect(shown.join('\n')).toContain('a.txt');
  });

  it('AG-8 a denied edit is noticed even if the program succeeds and the model claims a fix', () => {
    const { result } = replay(program, 'denied');
    expect(result.denials.length).toBeGreaterThan(0);
    expect(result).toMatchObject({ error: null, claim: { status: 'fixed' } });
  });

  it.each([
    ['401', 'unusable'],
    ['503', 'retryable'],
    ['drop', 'retryable'],
    ['long', 'context-overflow'],
  ])('AG-6 %s is %s', (scenarioFile, kind) => {
    const { isFinished, isStopped, result } = replay(program, scenarioFile);
    expect(result.error).toMatchObject({ kind, reason: expect.stringMatching(`^${program}: `) });
    // The program either ends by itself, or keeps retrying in vain and is stopped.
    expect(isFinished || isStopped || ['401', 'long'].includes(scenarioFile)).toBe(true);
  });
});

describe('usage', () => {
  it.each([
    ['claude', { inputTokens: 360, outputTokens: 45, turns: 3, costUsd: 0.00234 }],
    ['codex', { inputTokens: 240, outputTokens: 30, turns: 1, costUsd: null }],
  ] as const)('AG-9 %s reports its usage, with null for what it does not state', (program, usage) => {
    expect(replay(program, 'ok').result.usage).toMatchObject(usage);
  });
});
