import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkAgent, missingAgents } from '../../../src/agents/check-agents.js';
import { claudeRunner } from '../../../src/agents/claude-runner.js';
import { codexRunner } from '../../../src/agents/codex-runner.js';
import { commandFileOf } from '../../../src/agents/command-files.js';
import { copilotRunner } from '../../../src/agents/copilot-runner.js';
import { expandedPrompt, fillIn, promptOfToml } from '../../../src/agents/expand-command.js';
import { geminiRunner } from '../../../src/agents/gemini-runner.js';
import { opencodeRunner } from '../../../src/agents/opencode-runner.js';
import { passedEnv } from '../../../src/agents/passed-env.js';
import { reduceContext } from '../../../src/agents/build-context.js';
import { builtInRunners } from '../../../src/core/built-in.js';
import { aContext } from '../../rig/agent-context.js';
import { agentTask } from '../../rig/agent-task.js';
import { someSettings } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const runners = {
  claude: claudeRunner,
  codex: codexRunner,
  gemini: geminiRunner,
  opencode: opencodeRunner,
  copilot: copilotRunner,
};

describe('how a program is started', () => {
  it.each(builtInRunners)(
    'AG-1 %s gets the arguments of agents.yaml, and the prompt on its standard input, never as an argument',
    (kind) => {
      const runner = { kind, args: ['--model', 'haiku'] };
      const { args, input, passes } = runners[kind].command(agentTask('hangs', { runner }));
      expect(args.join(' ')).toContain('--model haiku');
      expect(input).toContain('Fix this error so the test can pass.');
      expect(args.join(' ')).not.toContain('Fix this error');
      expect(passes).not.toBe('everything');
    },
  );

  it('AG-2 claude is told where its prompt is, since it shows the text after a command twice', () => {
    const task = agentTask('hangs', { runner: { kind: 'claude' } });
    const { input } = claudeRunner.command({
      ...task,
      prompt: `/debugger Fix this.\n\n${'evidence '.repeat(500)}`,
    });
    expect(input).toMatch(/^\/debugger Fix this\. /);
    expect(input).toContain(task.promptFile);
    expect(input).not.toContain('evidence');
  });

  it.each([
    ['claude', '--permission-mode acceptEdits'],
    ['codex', 'sandbox_mode="workspace-write"'],
    ['gemini', '--approval-mode auto_edit'],
    ['copilot', '--allow-tool=write --disallow-temp-dir'],
  ] as const)('AG-1 %s may edit the project and nothing else: %s', (kind, words) => {
    const { args } = runners[kind].command(agentTask('hangs', { runner: { kind } }));
    expect(args.join(' ')).toContain(words);
    expect(args.join(' ')).not.toMatch(/yolo|dangerously|allow-all|bypass|full-access/);
  });

  it('AG-1 opencode gets its slash command by name, the prompt on standard input, and no shell', () => {
    const { args, input, env } = opencodeRunner.command(agentTask('hangs', { runner: { kind: 'opencode' } }));
    expect(args.join(' ')).toContain('--command debugger');
    expect(input).toBe('Fix this error so the test can pass.');
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')).toMatchObject({
      permission: { edit: 'allow', bash: 'deny', external_directory: 'deny' },
      compaction: { auto: false },
    });
  });

  it.each([
    ['claude', '--resume s1'],
    ['codex', 'exec resume --json'],
    ['gemini', '--resume s1'],
    ['opencode', '-s s1'],
    ['copilot', '--resume=s1'],
  ] as const)('AG-9 %s resumes a session: %s', (kind, words) => {
    const task = agentTask('hangs', { runner: { kind }, resume: 's1' });
    expect(runners[kind].command(task).args.join(' ')).toContain(words);
    expect(runners[kind].command({ ...task, resume: null }).args.join(' ')).not.toContain('s1');
  });

  it('AG-1 passes a program the basic environment variables, those on its list, and no others', () => {
    const env = {
      PATH: '/bin',
      Path: 'C:\\',
      DATABASE_URL: 'secret',
      ANTHROPIC_API_KEY: 'k',
      https_proxy: 'p',
    };
    const passed = passedEnv(env, ['ANTHROPIC_*']);
    expect(passed).toEqual({ PATH: '/bin', Path: 'C:\\', ANTHROPIC_API_KEY: 'k', https_proxy: 'p' });
    expect(passedEnv(env, 'everything')).toEqual(env);
  });

  it('HN-1 tells no program the repository of a git hook that runs self-heal, even if agents.yaml lists the variable', () => {
    const local = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' });
    const named = local.split('\n').filter((name) => name !== '' && !name.startsWith('GIT_CONFIG'));
    expect(named).toContain('GIT_DIR');
    const env = Object.fromEntries(['PATH', 'GIT_SSH_COMMAND', ...named].map((name) => [name, 'x']));
    expect(passedEnv(env, 'everything')).toEqual({ PATH: 'x', GIT_SSH_COMMAND: 'x' });
    expect(passedEnv(env, ['GIT_*'])).toEqual({ PATH: 'x', GIT_SSH_COMMAND: 'x' });
  });
});

describe('slash commands', () => {
  it.each([
    ['claude', '.claude/commands/debugger.md'],
    ['codex', '.codex/prompts/debugger.md'],
    ['gemini', '.gemini/commands/debugger.toml'],
    ['opencode', '.opencode/command/debugger.md'],
    ['copilot', '.github/prompts/debugger.prompt.md'],
  ] as const)('AG-1 commands of %s live in %s', (kind, file) => {
    expect(commandFileOf(kind, '/debugger --all')).toBe(file);
    expect(commandFileOf(kind, '/team:debugger')).toContain('team/debugger');
  });

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
        runners: { own: { kind } },
        agents: { fixer: { name: 'fixer', slashCommand: '/no-such-one', runner: 'own', timeoutMs: 1 } },
        routes: {
          ...plain.routes,
          ...Object.fromEntries(Object.keys(plain.routes).map((one) => [one, ['fixer']])),
        },
      };
      const problem = (await missingAgents(settings, dir)).get('fixer');
      expect(problem).toMatchObject({
        kind: 'agent-not-installed',
        message: `the slash command /no-such-one of agent fixer does not exist for ${kind}`,
        remedy: expect.stringContaining(commandFileOf(kind, '/no-such-one')),
      });
      const file = path.join(dir, commandFileOf(kind, '/no-such-one'));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, 'x');
      expect(await checkAgent(settings, 'fixer', dir)).toBeNull();
      expect(await missingAgents(settings, dir)).toEqual(new Map());
    },
  );

  it('AG-1 self-heal expands a command if the program does not', async () => {
    const dir = tempDir();
    mkdirSync(path.join(dir, '.codex', 'prompts'), { recursive: true });
    writeFileSync(
      path.join(dir, '.codex', 'prompts', 'fix.md'),
      '---\ndescription: x\n---\nMend: $ARGUMENTS\n',
    );
    expect(await expandedPrompt({ kind: 'codex' }, '/fix It\n\nis $& red\n', dir)).toBe(
      'Mend: It\n\nis $& red\n',
    );
    expect(await expandedPrompt({ kind: 'claude' }, '/fix It', dir)).toBe('/fix It');
    expect(await expandedPrompt({ kind: 'codex' }, '/gone It', dir)).toBe('/gone It');
  });

  it.each([
    ['no placeholder', 'Mend it.', 'Mend it.\n\na b\n'],
    ['one placeholder per word', 'Mend $1, then $2 and $3.', 'Mend a, then b and .\n'],
    [
      'text that only resembles a placeholder',
      'Costs $10 or $ARGUMENTSX',
      'Costs $10 or $ARGUMENTSX\n\na b\n',
    ],
  ])('AG-1 fills in the arguments: %s', (_, text, filled) => expect(fillIn(text, 'a b')).toBe(filled));

  it.each([
    ['description = "x"\nprompt = """\nMend \\"it\\": {{args}}\n"""\n', 'Mend "it": {{args}}\n'],
    ["prompt = '''\na\\n\nb'''", 'a\\n\nb'],
    ['prompt = "one\\ntwo"', 'one\ntwo'],
    ["prompt = 'c:\\x'", 'c:\\x'],
    ['[other]\nprompt = "no"', '[other]\nprompt = "no"'],
    ['"prompt" = "quoted key" # and a comment', 'quoted key'],
    ['Mend it, in plain text', 'Mend it, in plain text'],
  ])('AG-1 reads the prompt of a Gemini CLI command: %j', (toml, prompt) => {
    expect(promptOfToml(toml)).toBe(prompt);
  });
});

it('AG-7 reduced evidence keeps the failure itself, and says that the rest was left out', () => {
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
