import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { Check } from '../../src/doctor/check.js';
import { checkLogin } from '../../src/doctor/check-programs.js';
import { checkNode, examine } from '../../src/doctor/examine.js';
import { aReportAttempt, aReportCause } from '../rig/a-report.js';
import { writeInto } from '../rig/agent-workspace.js';
import { anEnd } from '../rig/builders.js';
import { launchOptions } from '../rig/chromium.js';
import { compiledInject } from '../rig/compiled-inject.js';
import { programs } from '../rig/programs.js';
import { agentsYaml, pageFiles, scratchProject, userEnv } from '../rig/scratch-project.js';
import { storedRun } from '../rig/stored-run.js';
import { tempDir } from '../rig/temp-dir.js';

afterEach(() => vi.unstubAllEnvs());

/** A project without a config, in which Playwright is not started. */
const noSuite = { 'package.json': '{ "name": "scratch" }', '.gitignore': 'node_modules\n' };
const fixer = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs']), 'fixer.mjs': '' };
const nodeVersion = process.versions.node;

/** Examines a folder; the programs precede those of PATH, and the home folder is empty. */
async function examinedIn(
  cwd: string,
  scripts: Record<string, string> = {},
  env: Record<string, string> = {},
) {
  const PATH = `${programs(scripts)}${path.delimiter}${process.env['PATH'] ?? ''}`;
  vi.stubEnv('PATH', PATH);
  const place = { cwd, nodeVersion, injectDir: await compiledInject() };
  const checks = await examine({ ...place, env: { ...userEnv(), HOME: tempDir('home'), PATH, ...env } });
  return { checks, dir: cwd, of: (name: string) => checks.filter((one) => one.name === name) };
}

/** Examines a project with these files. */
async function examined(
  files: Record<string, string>,
  scripts: Record<string, string> = {},
  env: Record<string, string> = {},
) {
  return examinedIn((await scratchProject(files)).dir, scripts, env);
}

const states = (checks: readonly Check[]): Record<string, string> =>
  Object.fromEntries(checks.map(({ name, state }) => [name, state]));
const saying = (text: string) => expect.stringContaining(text) as unknown;

it('CL-11 reports one line per check for a project in which a run works, and changes nothing', async () => {
  const { checks, dir } = await examined({ ...pageFiles, ...fixer });
  const names = ['node', 'playwright', 'playwright config', 'tests', 'browser', 'agents.yaml'];
  const all = [...names, 'own', 'own commands', 'git', 'ignore entry', '.self-heal'];
  expect(states(checks)).toEqual(Object.fromEntries(all.map((name) => [name, 'ok'])));
  expect(checks.find(({ name }) => name === 'browser')?.found).toMatch(/^chromium \d+\./);
  expect(existsSync(path.join(dir, '.self-heal'))).toBe(false);
  expect(existsSync(path.join(dir, 'test-results'))).toBe(false);
});

it('CL-11 lists the tests without a web server, and tries each way of starting a browser once', async () => {
  const config = `
    import { defineConfig, devices } from '@playwright/test';
    console.log('a config may speak');
    const use = { launchOptions: ${launchOptions} };
    export default defineConfig({
      testDir: 'tests', use,
      projects: [{ name: 'a' }, { name: 'b' }, { name: 'c', use: { launchOptions: { executablePath: '/nowhere/chrome' } } },
        { name: 'empty', testMatch: 'nothing', use: { browserName: 'webkit' } }],
      webServer: { command: 'node -e "require(\\'fs\\').writeFileSync(\\'served\\', \\'\\')"', url: 'http://127.0.0.1:9/' },
    });`;
  const { of, dir } = await examined({ ...pageFiles, ...fixer, 'playwright.config.ts': config });
  expect(of('tests')).toMatchObject([{ state: 'ok', found: '3 found' }]);
  expect(of('browser')).toMatchObject([
    { state: 'ok' },
    { state: 'failed', found: saying('/nowhere/chrome'), remedy: saying('executablePath') },
  ]);
  expect(existsSync(path.join(dir, 'served'))).toBe(false);
});

it('CL-11 fails on a missing Playwright and config with a remedy for each, and makes the other checks', async () => {
  const project = await scratchProject({ ...fixer, 'pnpm-lock.yaml': '' });
  rmSync(path.join(project.dir, 'node_modules'), { recursive: true });
  const checks = await examine({ cwd: project.dir, env: userEnv(), nodeVersion: '20.18.3' });
  const failed = { node: 'failed', playwright: 'failed', 'playwright config': 'failed' };
  expect(states(checks)).toMatchObject({ ...failed, own: 'ok', git: 'ok' });
  const remedy = checks.find(({ name }) => name === 'playwright')?.remedy;
  expect(remedy).toContain('pnpm add --save-dev @playwright/test');
});

const claude = (status: string) => `
case "$*" in
  --version) echo '2.1.197 (Claude Code)';;
  --help) echo 'Commands:'; echo '  auth   Manage authentication';;
  'auth status') ${status};;
  *) echo "$*" >> "$HOME/paid"; sleep 600;;
esac`;
const loggedIn = claude(`echo '{ "loggedIn": true, "authMethod": "api_key" }'`);
const loggedOut = claude(`echo '{ "loggedIn": false }'; exit 1`);

const { 'playwright.config.ts': configText, ...withoutConfig } = pageFiles;
const workflow = { '.github/workflows/self-heal.yml': 'run: npm install --global @openai/codex' };

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
    'a config that throws, with Playwright’s own message',
    { ...pageFiles, ...fixer, 'playwright.config.ts': 'throw new Error("no config today");' },
    'tests',
    [{ state: 'failed', found: saying('no config today'), remedy: saying('--list') }],
  ],
  [
    'configs below, and how to pass one',
    { ...withoutConfig, 'config/playwright.config.ts': configText },
    'playwright config',
    [{ state: 'failed', remedy: saying('-c config/playwright.config.ts') }],
  ],
  [
    'mistakes in agents.yaml with their lines',
    { ...noSuite, 'agents.yaml': 'routs: {}\n' },
    'agents.yaml',
    [{ state: 'failed', found: saying('agents.yaml:1:1') }],
  ],
  [
    'a missing program',
    { ...noSuite, 'agents.yaml': agentsYaml(['no-such-agent']) },
    'own',
    [{ state: 'failed', found: 'the program no-such-agent was not found' }],
  ],
  [
    'a missing script of the program’s command',
    { ...noSuite, 'agents.yaml': fixer['agents.yaml'] },
    'own commands',
    [{ state: 'failed' }],
  ],
  [
    'a broken program',
    noSuite,
    'claude',
    [{ state: 'failed', found: saying('--version') }],
    { claude: 'exit 127' },
  ],
  [
    'a workflow that installs another program than agents.yaml names',
    { ...noSuite, ...workflow },
    'ci',
    [{ state: 'warning', remedy: saying('init --ci') }],
    { claude: loggedIn },
  ],
  [
    'no workflow that fits',
    { ...noSuite, 'agents.yaml': 'runner: codex\n', ...workflow },
    'ci',
    [],
    { codex: '' },
  ],
  [
    'a .self-heal that is not a folder',
    { ...noSuite, ...fixer, '.self-heal': 'a file' },
    '.self-heal',
    [{ state: 'failed', remedy: saying('move it away') }],
  ],
])('CL-11 tells of %s', async (_, files, check, said, scripts = {}) => {
  const found = (await examined(files, scripts)).of(check);
  expect(said.length > 0 ? found.slice(0, said.length) : found).toMatchObject(said);
});

it('CL-11 checks the four commands, version and login of claude without a paid call', async () => {
  const files = { ...noSuite, '.claude/commands/debugger.md': 'x', '.claude/commands/database.md': 'x' };
  const home = tempDir('home');
  const { of } = await examined(files, { claude: loggedOut }, { HOME: home });
  const found = expect.stringMatching(/^2\.1\.197; tested with \d/) as unknown;
  expect(of('claude')).toMatchObject([{ state: 'ok', found }]);
  expect(of('claude login')).toMatchObject([{ state: 'failed', remedy: saying('/login') }]);
  expect(of('claude commands')).toMatchObject([
    { state: 'ok', found: '/database, /debugger' },
    { state: 'failed', found: saying('/build-doctor') },
    { state: 'failed', found: saying('/code-review') },
  ]);
  expect(existsSync(path.join(home, 'paid'))).toBe(false);
});

it.each([
  ['remembers that it was turned away', ['unusable'], 1],
  ['forgets it once it worked, even badly', ['unusable', 'still-failing'], 0],
] as const)('CL-11 AG-6 of a program, doctor %s', async (_, ends, warnings) => {
  const { dir } = await scratchProject(noSuite);
  for (const [index, kind] of ends.entries()) {
    const attempt = aReportAttempt({ runner: 'claude', end: anEnd(kind, 'status 401') });
    await storedRun(dir, { causes: [aReportCause({ attempts: [attempt] })] }, `2026112${index}-071500-000a`);
  }
  const told = (await examinedIn(dir, { claude: loggedIn })).of('claude last time');
  expect(told).toHaveLength(warnings);
  for (const one of told) expect(one).toMatchObject({ state: 'warning', remedy: 'Log in.' });
});

const notIn = `echo 'Not logged in' >&2; exit 1`;
const custom = { '.codex/config.toml': 'model_provider = "own"\n' };
const oauth = { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"oauth-personal"}}}' };

it.each<
  [
    program: Parameters<typeof checkLogin>[0],
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
  ['opencode', `echo '2 credentials'`, { state: 'in' }],
  ['opencode', `printf '0 credentials\\n1 environment variable\\n'`, { state: 'in' }],
  ['opencode', `echo '0 credentials'`, { state: 'unknown' }],
  ['gemini', 'touch "$HOME/paid"', { state: 'out' }],
  ['gemini', 'touch "$HOME/paid"', { state: 'in', how: 'GEMINI_API_KEY' }, { GEMINI_API_KEY: 'x' }],
  ['gemini', 'touch "$HOME/paid"', { state: 'unknown' }, {}, oauth],
  [
    'gemini',
    'touch "$HOME/paid"',
    { state: 'in', how: 'a stored login' },
    {},
    { ...oauth, '.gemini/oauth_creds.json': '{}' },
  ],
  ['copilot', 'touch "$HOME/paid"', { state: 'unknown' }],
  ['copilot', 'touch "$HOME/paid"', { state: 'in', how: 'GH_TOKEN' }, { GH_TOKEN: 'x' }],
])(
  'CL-11 reads the login of %s (%s) without a paid call: %j %j',
  async (program, script, state, env, home) => {
    const HOME = tempDir('home');
    writeInto(HOME, home ?? {});
    const PATH = `${programs({ [program]: script })}${path.delimiter}${process.env['PATH'] ?? ''}`;
    expect(await checkLogin(program, { cwd: tempDir(), env: { PATH, ...env, HOME } })).toMatchObject(state);
    expect(existsSync(path.join(HOME, 'paid'))).toBe(false);
  },
);

it('CL-11 warns about a missing git, since a run works without it, and not about an ignore entry, which a run makes itself', async () => {
  const { dir } = await scratchProject({ ...noSuite, ...fixer });
  const bin = tempDir('bin');
  symlinkSync(process.execPath, path.join(bin, 'node'));
  const look = async (env = userEnv()) => states(await examine({ cwd: dir, env, nodeVersion }));
  expect(await look({ ...userEnv(), PATH: bin })).toMatchObject({ git: 'warning' });
  execFileSync('git', ['init', '-q'], { cwd: dir });
  expect(await look()).toMatchObject({ 'ignore entry': 'ok' });
});

it.each([
  ['20.18.3', 'failed'],
  ['20.19.0', 'ok'],
  ['18.20.1', 'failed'],
  ['22.0.0', 'ok'],
])('CL-11 Node %s: %s', (version, state) => {
  expect(checkNode(version).state).toBe(state);
});

it('PB-6 says in CI that nothing is remembered if no earlier run has left a store', async () => {
  const files = { ...noSuite, ...fixer };
  const ci = { CI: 'true' };
  expect((await examined(files)).of('memory')).toEqual([]);
  expect((await examined(files, {}, ci)).of('memory')).toMatchObject([{ state: 'warning' }]);
  expect((await examined({ ...files, '.self-heal/ledger.db': '' }, {}, ci)).of('memory')).toEqual([]);
});
