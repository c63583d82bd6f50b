import { anEnd } from '../rig/builders.js';
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { Check } from '../../src/doctor/check.js';
import { checkLogin } from '../../src/doctor/check-programs.js';
import { checkNode, examine } from '../../src/doctor/examine.js';
import { launchOptions } from '../rig/chromium.js';
import { compiledInject } from '../rig/compiled-inject.js';
import { programs } from '../rig/programs.js';
import { agentsYaml, scratchProject, pageFiles, userEnv } from '../rig/scratch-project.js';
import { aReportAttempt, aReportCause } from '../rig/a-report.js';
import { storedRun } from '../rig/stored-run.js';
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
  const project = await scratchProject(files);
  const PATH = `${programs(scripts)}${path.delimiter}${process.env['PATH'] ?? ''}`;
  vi.stubEnv('PATH', PATH);
  const checks = await examine({
    cwd: project.dir,
    env: { ...userEnv(), HOME: tempDir('home'), PATH, ...env },
    nodeVersion: process.versions.node,
    injectDir: await compiledInject(),
  });
  return { checks, dir: project.dir, of: (name: string) => checks.filter((one) => one.name === name) };
}

function states(checks: readonly Check[]): Record<string, string> {
  return Object.fromEntries(checks.map(({ name, state }) => [name, state]));
}

it('CL-11 reports one line per check for a project in which a run works, and changes nothing', async () => {
  const { checks, dir } = await examined({ ...pageFiles, ...fixer });
  expect(states(checks)).toEqual({
    node: 'ok',
    playwright: 'ok',
    'playwright config': 'ok',
    tests: 'ok',
    browser: 'ok',
    'agents.yaml': 'ok',
    own: 'ok',
    'own commands': 'ok',
    git: 'ok',
    'ignore entry': 'ok',
    '.self-heal': 'ok',
  });
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
    {
      state: 'failed',
      found: expect.stringContaining('/nowhere/chrome') as unknown,
      remedy: expect.stringContaining('executablePath') as unknown,
    },
  ]);
  expect(existsSync(path.join(dir, 'served'))).toBe(false);
});

it('CL-11 a config that throws fails with Playwright’s own message', async () => {
  const config = { 'playwright.config.ts': 'throw new Error("no config today");' };
  const { of } = await examined({ ...pageFiles, ...fixer, ...config });
  expect(of('tests')).toMatchObject([
    {
      state: 'failed',
      found: expect.stringContaining('no config today') as unknown,
      remedy: expect.stringContaining('--list') as unknown,
    },
  ]);
  expect(of('browser')).toEqual([]);
});

it('CL-11 fails on a missing Playwright and config with a remedy for each, and makes the other checks', async () => {
  const project = await scratchProject({ ...fixer, 'pnpm-lock.yaml': '' });
  rmSync(path.join(project.dir, 'node_modules'), { recursive: true });
  const checks = await examine({ cwd: project.dir, env: userEnv(), nodeVersion: '20.18.3' });
  expect(states(checks)).toMatchObject({
    node: 'failed',
    playwright: 'failed',
    'playwright config': 'failed',
    own: 'ok',
    git: 'ok',
  });
  expect(checks.find(({ name }) => name === 'playwright')?.remedy).toContain(
    'pnpm add --save-dev @playwright/test',
  );
});

it('CL-11 shows mistakes in agents.yaml with their lines', async () => {
  const { of } = await examined({ ...noSuite, 'agents.yaml': 'routs: {}\n' });
  expect(of('agents.yaml')).toMatchObject([
    { state: 'failed', found: expect.stringContaining('agents.yaml:1:1') as unknown },
  ]);
});

it('CL-11 fails on a missing program, or a missing script of its command', async () => {
  const gone = await examined({ ...noSuite, 'agents.yaml': agentsYaml(['no-such-agent']) });
  expect(gone.of('own')).toMatchObject([
    { state: 'failed', found: 'the program no-such-agent was not found' },
  ]);
  expect(gone.of('own commands')).toEqual([]);
  const scriptless = await examined({ ...noSuite, 'agents.yaml': fixer['agents.yaml'] });
  expect(scriptless.of('own commands')[0]).toMatchObject({ state: 'failed' });
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

it('CL-11 checks the four commands, version and login of claude without a paid call', async () => {
  const files = { ...noSuite, '.claude/commands/debugger.md': 'x', '.claude/commands/database.md': 'x' };
  const home = tempDir('home');
  const { of } = await examined(files, { claude: loggedOut }, { HOME: home });
  expect(of('claude')).toMatchObject([
    { state: 'ok', found: expect.stringMatching(/^2\.1\.197; tested with \d/) as unknown },
  ]);
  expect(of('claude login')).toMatchObject([
    { state: 'failed', remedy: expect.stringContaining('/login') as unknown },
  ]);
  expect(of('claude commands')).toMatchObject([
    { state: 'ok', found: '/database, /debugger' },
    { state: 'failed', found: expect.stringContaining('/build-doctor') as unknown },
    { state: 'failed', found: expect.stringContaining('/code-review') as unknown },
  ]);
  expect(existsSync(path.join(home, 'paid'))).toBe(false);
});

it.each([
  ['remembers that it was turned away', ['unusable'], 1],
  ['forgets it once it worked', ['unusable', 'green'], 0],
  ['forgets it once it worked badly', ['unusable', 'still-failing'], 0],
] as const)('CL-11 AG-6 of a program, doctor %s', async (_, ends, warnings) => {
  const { dir } = await examined(noSuite);
  for (const [index, kind] of ends.entries()) {
    const attempt = aReportAttempt({ runner: 'claude', end: anEnd(kind, 'status 401') });
    await storedRun(dir, { causes: [aReportCause({ attempts: [attempt] })] }, `2026112${index}-071500-000a`);
  }
  vi.stubEnv('PATH', `${programs({ claude: loggedIn })}${path.delimiter}${process.env['PATH'] ?? ''}`);
  const env = { ...userEnv(), HOME: tempDir('home'), PATH: process.env['PATH'] };
  const checks = await examine({ cwd: dir, env, nodeVersion: process.versions.node });
  const told = checks.filter(({ name }) => name === 'claude last time');
  expect(told).toHaveLength(warnings);
  for (const one of told) expect(one).toMatchObject({ state: 'warning', remedy: 'Log in.' });
});

it('CL-11 tells of a workflow that installs another program than agents.yaml names', async () => {
  const workflow = { '.github/workflows/self-heal.yml': 'run: npm install --global @openai/codex' };
  expect((await examined({ ...noSuite, ...workflow }, { claude: loggedIn })).of('ci')).toMatchObject([
    { state: 'warning', remedy: expect.stringContaining('init --ci') as unknown },
  ]);
  const fits = { 'agents.yaml': 'runner: codex\n', ...workflow };
  expect((await examined({ ...noSuite, ...fits }, { codex: '' })).of('ci')).toEqual([]);
});

it('CL-11 names the configs below, and how to pass one', async () => {
  const { 'playwright.config.ts': text, ...files } = pageFiles;
  const { of } = await examined({ ...files, 'config/playwright.config.ts': text });
  expect(of('playwright config')).toMatchObject([
    { state: 'failed', remedy: expect.stringContaining('-c config/playwright.config.ts') as unknown },
  ]);
});

it('CL-11 fails on a broken program', async () => {
  const { of } = await examined(noSuite, { claude: 'exit 127' });
  expect(of('claude')).toMatchObject([
    { state: 'failed', found: expect.stringContaining('--version') as unknown },
  ]);
});

const login = (
  program: Parameters<typeof checkLogin>[0],
  script: string,
  env: Record<string, string> = {},
) => {
  const HOME = env['HOME'] ?? tempDir('home');
  const PATH = `${programs({ [program]: script })}${path.delimiter}${process.env['PATH'] ?? ''}`;
  return checkLogin(program, { cwd: tempDir(), env: { PATH, ...env, HOME } });
};

it('CL-11 asks claude whether it is logged in, unless it has no such command', async () => {
  expect(await login('claude', loggedIn)).toEqual({ state: 'in', how: 'api_key' });
  expect(await login('claude', loggedOut)).toMatchObject({ state: 'out' });
  const HOME = tempDir('home');
  const old = `case "$*" in --help) echo '  config  x';; *) touch "$HOME/paid";; esac`;
  expect(await login('claude', old, { HOME })).toMatchObject({ state: 'unknown' });
  expect(existsSync(path.join(HOME, 'paid'))).toBe(false);
});

it('CL-11 reads the login of codex from its exit code, its own key, or a custom provider', async () => {
  const no = `echo 'Not logged in' >&2; exit 1`;
  expect(await login('codex', `echo 'API key configured - ***'`)).toEqual({ state: 'in', how: 'an API key' });
  expect(await login('codex', no)).toMatchObject({ state: 'out' });
  expect(await login('codex', no, { CODEX_API_KEY: 'x' })).toEqual({ state: 'in', how: 'CODEX_API_KEY' });
  expect(await login('codex', no, { OPENAI_API_KEY: 'x' })).toMatchObject({ state: 'out' });
  const HOME = tempDir('home');
  await mkdir(path.join(HOME, '.codex'));
  await writeFile(path.join(HOME, '.codex/config.toml'), 'model_provider = "own"\n');
  expect(await login('codex', no, { HOME })).toMatchObject({ state: 'unknown' });
});

it('CL-11 reads the login of opencode from its number of credentials; without any it is unknown', async () => {
  const list = (text: string) => `printf '${text}\\n'`;
  expect(await login('opencode', list('2 credentials'))).toMatchObject({ state: 'in' });
  expect(await login('opencode', list('0 credentials\\n1 environment variable'))).toMatchObject({
    state: 'in',
  });
  expect(await login('opencode', list('0 credentials'))).toMatchObject({ state: 'unknown' });
});

it('CL-11 checks the logins of gemini and copilot without starting them', async () => {
  const HOME = tempDir('home');
  const paid = 'touch "$HOME/paid"';
  expect(await login('gemini', paid, { HOME })).toMatchObject({ state: 'out' });
  expect(await login('gemini', paid, { HOME, GEMINI_API_KEY: 'x' })).toEqual({
    state: 'in',
    how: 'GEMINI_API_KEY',
  });
  await mkdir(path.join(HOME, '.gemini'));
  await writeFile(
    path.join(HOME, '.gemini/settings.json'),
    '{"security":{"auth":{"selectedType":"oauth-personal"}}}',
  );
  expect(await login('gemini', paid, { HOME })).toMatchObject({ state: 'unknown' });
  writeFileSync(path.join(HOME, '.gemini/oauth_creds.json'), '{}');
  expect(await login('gemini', paid, { HOME })).toEqual({ state: 'in', how: 'a stored login' });
  expect(await login('copilot', paid, { HOME })).toMatchObject({ state: 'unknown' });
  expect(await login('copilot', paid, { HOME, GH_TOKEN: 'x' })).toEqual({ state: 'in', how: 'GH_TOKEN' });
  expect(existsSync(path.join(HOME, 'paid'))).toBe(false);
});

it('CL-11 warns about a missing git, since a run works without it, and not about an ignore entry, which a run makes itself', async () => {
  const project = await scratchProject({ ...noSuite, ...fixer });
  const bin = tempDir('bin');
  symlinkSync(process.execPath, path.join(bin, 'node'));
  const look = async (env = userEnv()) =>
    states(await examine({ cwd: project.dir, env, nodeVersion: '22.0.0' }));
  expect(await look({ ...userEnv(), PATH: bin })).toMatchObject({ git: 'warning' });
  execFileSync('git', ['init', '-q'], { cwd: project.dir });
  expect(await look()).toMatchObject({ 'ignore entry': 'ok' });
  await writeFile(path.join(project.dir, '.gitignore'), '.self-heal/\n');
  expect(await look()).toMatchObject({ 'ignore entry': 'ok' });
});

it('CL-11 fails if .self-heal is not a folder, and leaves its contents as they are', async () => {
  const { of, dir } = await examined({ ...noSuite, ...fixer, '.self-heal': 'a file' });
  expect(of('.self-heal')).toMatchObject([
    { state: 'failed', remedy: expect.stringContaining('move it away') as unknown },
  ]);
  expect(await readFile(path.join(dir, '.self-heal'), 'utf8')).toBe('a file');
  const there = await examined({ ...noSuite, ...fixer, '.self-heal/runs/1/report.json': '{}' });
  expect(there.of('.self-heal')).toMatchObject([{ state: 'ok' }]);
  expect(existsSync(path.join(there.dir, '.self-heal/runs/1/report.json'))).toBe(true);
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
  expect((await examined(files)).of('memory')).toEqual([]);
  const ci = { CI: 'true' };
  expect((await examined(files, {}, ci)).of('memory')).toMatchObject([{ state: 'warning' }]);
  expect((await examined({ ...files, '.self-heal/ledger.db': '' }, {}, ci)).of('memory')).toEqual([]);
});
