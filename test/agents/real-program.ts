import path from 'node:path';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { onTestFinished, vi } from 'vitest';
import { locateCommandFile } from '../../src/agents/command-files.js';
import { resolveSettings } from '../../src/config/load-settings.js';
import type { AgentsFile } from '../../src/config/schema.js';
import type { RunnerSettings } from '../../src/model/settings.js';
import { tempDir } from '../rig/temp-dir.js';
import type { Answer } from './dialects.js';

/** How one real program is pointed at the stub, and what its model has to call to edit a file. */
export interface RealProgram {
  readonly name: string;
  /** The environment of a user who has this program and nothing else: fake key, private HOME, telemetry off. */
  env(url: string): Record<string, string>;
  /** The tool calls that write `two` over `one` in a file, one answer each. */
  edits(file: string): Answer[];
  /** The tool call that creates a file, and one that runs a command. */
  creates(file: string): Answer;
  readonly runs: Answer;
  /** The provider's response to a prompt that is too long. */
  readonly tooLong: { readonly status: number; readonly body: unknown };
  readonly reportsCost: boolean;
  /** Makes the sessions in a home folder look older, if the program cannot continue one at once. */
  ageSessions?(home: string): void;
  /** Instructions and settings of a project, which the program heeds if it trusts the folder. */
  readonly settings: {
    readonly files: Record<string, string>;
    /** Tool calls that need the settings, and the texts that the model is sent if they are heeded. */
    readonly calls: readonly Answer[];
    readonly seen: readonly string[];
  };
}

/** The programs to test, which `scripts/test-agents.mjs` passes: the folder of each executable by the program's name. */
const folders = JSON.parse(process.env['SELF_HEAL_TEST_AGENTS'] ?? '{}') as Record<string, string>;

/** A home folder with nothing of the user's, and no credential in the environment. */
function createBareEnv(name: string, home: string): Record<string, string> {
  const kept = ['PATH', 'LANG', 'SELF_HEAL_CHROMIUM', 'PLAYWRIGHT_BROWSERS_PATH'].flatMap((key) => {
    const value = process.env[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  const { PATH = '', ...rest } = Object.fromEntries(kept);
  return { ...rest, PATH: [folders[name], PATH].join(path.delimiter), HOME: home, TERM: 'dumb' };
}

/** Gives this process, and so every program that it starts, only these environment variables until the test ends. */
export function useOnlyEnv(env: Record<string, string>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

function call(tool: string, input: Readonly<Record<string, unknown>>): Answer {
  return { calls: [{ tool, input }] };
}

/** What agents.yaml says of a program: two lines for one that is not built in. */
export function agentsFile({ name }: RealProgram): AgentsFile {
  return {
    runner: name,
    ...(name === adapter.name ? { runners: { [name]: { acp: [name] } } } : {}),
  };
}

/** The settings of a program. */
export function runnerSettings(program: RealProgram): RunnerSettings {
  const { name } = program;
  const { runners } = resolveSettings({ file: agentsFile(program), project: 'own', filePath: null });
  const settings = runners[name];
  if (!settings) throw new Error(`no runner ${name}`);
  return settings;
}

const openaiTooLong = {
  status: 400,
  body: {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
};

const claude: RealProgram = {
  name: 'claude',
  env: (url) => ({
    ...createBareEnv('claude', tempDir()),
    ANTHROPIC_API_KEY: 'sk-ant-fake',
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  }),
  edits: (file) => [
    { calls: [{ tool: 'Read', input: { file_path: file } }] },
    { calls: [{ tool: 'Edit', input: { file_path: file, old_string: 'one', new_string: 'two' } }] },
  ],
  creates: (file) => call('Write', { file_path: file, content: 'x' }),
  runs: call('Bash', { command: 'node -e 1', description: 'x' }),
  tooLong: {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    },
  },
  reportsCost: true,
  settings: {
    files: {
      'CLAUDE.md': 'INSTRUCTIONS-OF-THE-PROJECT',
      'check.mjs': "console.log('CHECKED-' + 'BY-THE-PROJECT');",
      '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(node check.mjs)'] } }),
    },
    calls: [{ calls: [{ tool: 'Bash', input: { command: 'node check.mjs', description: 'checks' } }] }],
    seen: ['INSTRUCTIONS-OF-THE-PROJECT', 'CHECKED-BY-THE-PROJECT'],
  },
};

// Codex does not report a command that ends at once, refused or not (0.169.0), so its edit takes a second.
const codex: RealProgram = {
  name: 'codex',
  env: (url) => {
    const home = tempDir();
    const folder = path.join(home, '.codex');
    mkdirSync(folder);
    const provider = `name = "stub"\nbase_url = "${url}/v1"\nenv_key = "CODEX_API_KEY"\nwire_api = "responses"`;
    const text = `model = "gpt-5"\nmodel_provider = "stub"\n[model_providers.stub]\n${provider}\n[analytics]\nenabled = false\n`;
    writeFileSync(path.join(folder, 'config.toml'), text);
    return { ...createBareEnv('codex', home), CODEX_HOME: folder, CODEX_API_KEY: 'sk-fake' };
  },
  edits: (file) => [
    {
      calls: [{ tool: 'exec_command', input: { cmd: `sleep 1; sed -i s/one/two/ '${file}'` } }],
    },
  ],
  creates: (file) => call('exec_command', { cmd: `sleep 1; echo x > '${file}'` }),
  runs: call('exec_command', { cmd: 'sleep 1; git log -3 -p' }),
  tooLong: openaiTooLong,
  reportsCost: false,
  settings: {
    files: {
      'AGENTS.md': 'INSTRUCTIONS-OF-THE-PROJECT',
      '.codex/config.toml': 'developer_instructions = "SETTINGS-OF-THE-PROJECT"\n',
    },
    calls: [],
    seen: ['INSTRUCTIONS-OF-THE-PROJECT', 'SETTINGS-OF-THE-PROJECT'],
  },
};

/** An adapter for Claude Code, for which no runner is built in. */
const adapter: RealProgram = {
  ...claude,
  name: 'claude-agent-acp',
  env: (url) => {
    const { PATH = '', ...env } = claude.env(url);
    return {
      ...env,
      PATH: [folders['claude-agent-acp'], PATH].join(path.delimiter),
      // By default, it retries for three minutes before it reports a wrong key.
      CLAUDE_CODE_MAX_RETRIES: '2',
    };
  },
};

const gemini: RealProgram = {
  name: 'gemini',
  env: (url) => {
    const home = tempDir();
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false },
      model: { name: 'gemini-2.5-pro' },
    };
    mkdirSync(path.join(home, '.gemini'));
    writeFileSync(path.join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
    return { ...createBareEnv('gemini', home), GEMINI_API_KEY: 'fake', GOOGLE_GEMINI_BASE_URL: url };
  },
  // It overwrites a session that is continued in the same minute, because its file has the same name (0.61.0).
  ageSessions: (home) => {
    const files = readdirSync(path.join(home, '.gemini', 'tmp'), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.jsonl'))) {
      const place = path.join(home, '.gemini', 'tmp', file);
      renameSync(place, place.replace(/session-[\dT-]{16}/, 'session-2026-01-01T00-00'));
    }
  },
  edits: (file) => [
    {
      calls: [
        {
          tool: 'replace',
          input: { file_path: file, old_string: 'one', new_string: 'two', instruction: 'mend it' },
        },
      ],
    },
  ],
  creates: (file) => call('write_file', { file_path: file, content: 'x' }),
  runs: call('run_shell_command', { command: 'git log -3 -p', description: 'x' }),
  tooLong: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
  },
  reportsCost: false,
  settings: {
    files: {
      'RULES.md': 'INSTRUCTIONS-OF-THE-PROJECT',
      '.gemini/settings.json': JSON.stringify({ context: { fileName: 'RULES.md' } }),
    },
    calls: [],
    seen: ['INSTRUCTIONS-OF-THE-PROJECT'],
  },
};

const opencode: RealProgram = {
  name: 'opencode',
  env: (url) => {
    const stub = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'fake' },
      models: { stub: { name: 'stub', cost: { input: 1, output: 2 } } },
    };
    return {
      ...createBareEnv('opencode', tempDir()),
      OPENCODE_CONFIG_CONTENT: JSON.stringify({ model: 'stub/stub', provider: { stub } }),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    };
  },
  edits: (file) => [
    { calls: [{ tool: 'read', input: { filePath: file } }] },
    { calls: [{ tool: 'edit', input: { filePath: file, oldString: 'one', newString: 'two' } }] },
  ],
  creates: (file) => call('write', { filePath: file, content: 'x' }),
  runs: call('bash', { command: 'git log -3 -p', description: 'x' }),
  tooLong: openaiTooLong,
  reportsCost: false,
  settings: {
    files: {
      'AGENTS.md': 'INSTRUCTIONS-OF-THE-PROJECT',
      'rules/own.md': 'SETTINGS-OF-THE-PROJECT',
      'opencode.json': JSON.stringify({ instructions: ['rules/own.md'] }),
    },
    calls: [],
    seen: ['INSTRUCTIONS-OF-THE-PROJECT', 'SETTINGS-OF-THE-PROJECT'],
  },
};

const copilot: RealProgram = {
  name: 'copilot',
  env: (url) => ({
    ...createBareEnv('copilot', tempDir()),
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'fake',
    COPILOT_MODEL: 'stub',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  edits: (file) => [{ calls: [{ tool: 'edit', input: { path: file, old_str: 'one', new_str: 'two' } }] }],
  creates: (file) => call('create', { path: file, file_text: 'x' }),
  runs: call('bash', { command: 'git log -3 -p', description: 'x' }),
  tooLong: openaiTooLong,
  reportsCost: false,
  settings: {
    files: {
      '.github/copilot-instructions.md': 'INSTRUCTIONS-OF-THE-PROJECT',
      '.github/skills/check/SKILL.md':
        '---\nname: check\ndescription: SETTINGS-OF-THE-PROJECT\n---\nCheck it.\n',
    },
    calls: [],
    seen: ['INSTRUCTIONS-OF-THE-PROJECT', 'SETTINGS-OF-THE-PROJECT'],
  },
};

/** The programs that are installed. */
export const realPrograms = [claude, codex, gemini, opencode, copilot, adapter].filter(
  ({ name }) => name in folders,
);

/** A project's slash command file for a program. Its text is a marker to look for in what the model is sent. */
export function commandFile({ name }: RealProgram): Record<string, string> {
  const text = 'EXPANDED-BY-THE-COMMAND-FILE';
  const body = name === 'gemini' ? `prompt = """${text}: {{args}}"""\n` : `${text}: $ARGUMENTS\n`;
  return { [locateCommandFile(name, '/debugger')]: body };
}

/** The model's final message, which claims a fix. */
export const finalMessage: Answer = { text: 'Done.\nSELF-HEAL: {"status":"fixed","summary":"one is two"}' };

/** A question to a person. */
export const question: Answer = {
  text: 'I cannot tell.\nSELF-HEAL: {"status":"needs-person","summary":"Which text is right?"}',
};
