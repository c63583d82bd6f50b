import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { checkLogin } from '../../src/clients/doctor/logins.js';
import { examineProject } from '../../src/clients/doctor/examine.js';
import type { OwnCommandLine } from '../../src/model/built-in.js';
import { writeInto } from '../rig/agent-workspace.js';
import { programs } from '../rig/programs.js';
import { agentsYaml, scratchProject, userEnv } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

afterEach(() => vi.unstubAllEnvs());

/** A project without a config, in which Playwright is not started. */
const noSuite = { 'package.json': '{ "name": "scratch" }', '.gitignore': 'node_modules\n' };
const fixer = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs']), 'fixer.mjs': '' };

/** Examines a project with these files; the programs precede those of PATH, and the home folder is empty. */
async function examined(
  files: Record<string, string>,
  scripts: Record<string, string> = {},
  env: Record<string, string> = {},
) {
  const { dir: cwd } = await scratchProject(files);
  const PATH = `${programs(scripts)}${path.delimiter}${process.env['PATH'] ?? ''}`;
  vi.stubEnv('PATH', PATH);
  const checks = await examineProject({ cwd, env: { ...userEnv(), HOME: tempDir('home'), PATH, ...env } });
  return { of: (name: string) => checks.filter((one) => one.name === name) };
}

const saying = (text: string) => expect.stringContaining(text) as unknown;

const claude = (status: string) => `
case "$*" in
  --version) echo '2.1.197 (Claude Code)';;
  --help) echo 'Commands:'; echo '  auth   Manage authentication';;
  'auth status') ${status};;
  *) echo "$*" >> "$HOME/paid"; sleep 600;;
esac`;
const loggedIn = claude(`echo '{ "loggedIn": true, "authMethod": "api_key" }'`);
const loggedOut = claude(`echo '{ "loggedIn": false }'; exit 1`);

it.each<
  [
    what: string,
    files: Record<string, string>,
    check: string,
    said: object[],
    scripts?: Record<string, string>,
  ]
>([
  [
    'mistakes in agents.yaml with their lines',
    { ...noSuite, 'agents.yaml': 'routs: {}\n' },
    'agents.yaml',
    [{ state: 'failed', found: saying('agents.yaml:1:1') }],
  ],
  [
    'a missing program',
    { ...noSuite, 'agents.yaml': agentsYaml(['no-such-agent']) },
    'agents',
    [{ state: 'failed', found: saying('the program no-such-agent') }],
  ],
  [
    'a missing program of several agents once',
    { ...noSuite, 'agents.yaml': 'version: 1\nrunner: codex\n' },
    'agents',
    [{ state: 'failed', found: saying('the program codex was not found') }],
  ],
  [
    'a missing script of the program’s command',
    { ...noSuite, 'agents.yaml': fixer['agents.yaml'] },
    'agents',
    [{ state: 'failed', found: saying('fixer.mjs') }],
  ],
  ['no agent program', noSuite, 'built-in', [{ state: 'warning', remedy: saying('init --agent') }]],
  [
    'a .self-heal that is not a folder',
    { ...noSuite, ...fixer, '.self-heal': 'a file' },
    '.self-heal',
    [{ state: 'failed', remedy: saying('move it away') }],
  ],
])('CL-11 reports %s', async (_, files, check, said, scripts = {}) => {
  const found = (await examined(files, scripts)).of(check);
  expect(found).toMatchObject(said);
});

it('CL-11 checks the commands and the login of claude without a paid call', async () => {
  const files = { ...noSuite, '.claude/commands/debugger.md': 'x', '.claude/commands/database.md': 'x' };
  const home = tempDir('home');
  const { of } = await examined(files, { claude: loggedOut }, { HOME: home });
  expect(of('claude login')).toMatchObject([{ state: 'failed', remedy: saying('/login') }]);
  expect(of('agents')).toMatchObject([
    { state: 'ok', found: '/database (claude), /debugger (claude)' },
    { state: 'failed', found: saying('/build-doctor') },
    { state: 'failed', found: saying('/code-review') },
  ]);
  expect(existsSync(path.join(home, 'paid'))).toBe(false);
});

it('HN-11 CL-11 says who reviews fixes: another program than the fixer’s, if one is set up', async () => {
  const files = { ...noSuite, '.claude/commands/review-fix.md': 'x' };
  const same = await examined(files, { claude: loggedOut });
  expect(same.of('reviewer')).toMatchObject([{ state: 'ok', found: 'claude reviews what claude fixes' }]);
  const other = await examined(files, { claude: loggedOut, codex: '' });
  expect(other.of('reviewer')).toMatchObject([{ state: 'ok', found: 'codex reviews what claude fixes' }]);
  const nobody = await examined(noSuite, { claude: loggedOut });
  expect(nobody.of('reviewer')).toMatchObject([{ state: 'warning', remedy: saying('init') }]);
  const command = await examined({ ...noSuite, ...fixer }, {});
  expect(command.of('reviewer')).toMatchObject([{ state: 'ok', found: saying('fixes are not reviewed') }]);
});

const notIn = `echo 'Not logged in' >&2; exit 1`;
const custom = { '.codex/config.toml': 'model_provider = "own"\n' };

it.each<
  [
    program: OwnCommandLine,
    script: string,
    state: object,
    env?: Record<string, string>,
    home?: Record<string, string>,
  ]
>([
  ['claude', loggedIn, { state: 'in', how: 'api_key' }],
  ['claude', loggedOut, { state: 'out' }],
  // An old one, which has no such command.
  ['claude', `case "$*" in --help) echo '  config  x';; *) touch "$HOME/paid";; esac`, { state: 'unknown' }],
  ['codex', `echo 'API key configured - ***'`, { state: 'in', how: 'an API key' }],
  ['codex', notIn, { state: 'out' }, { OPENAI_API_KEY: 'x' }],
  ['codex', notIn, { state: 'in', how: 'CODEX_API_KEY' }, { CODEX_API_KEY: 'x' }],
  ['codex', notIn, { state: 'unknown' }, {}, custom],
])(
  'CL-11 reads the login of %s (%s) without a paid call: %j %j',
  async (program, script, state, env, home) => {
    const HOME = tempDir('home');
    writeInto(HOME, home ?? {});
    const PATH = `${programs({ [program]: script })}${path.delimiter}${process.env['PATH'] ?? ''}`;
    expect(
      await checkLogin({ kind: program }, { cwd: tempDir(), env: { PATH, ...env, HOME } }),
    ).toMatchObject(state);
    expect(existsSync(path.join(HOME, 'paid'))).toBe(false);
  },
);
