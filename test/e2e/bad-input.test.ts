import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import {
  agentsYaml,
  pageFiles,
  scratchProject,
  type ScratchProject,
  shopFiles,
  userEnv,
} from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const cli = path.resolve(import.meta.dirname, '../../bin/self-heal.js');
const own = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs']) };
const { 'playwright.config.ts': _, ...withoutConfig } = shopFiles;
const nowhere = `export default { testDir: 'tests', use: { launchOptions: { executablePath: '/nowhere/chrome' } } };`;
const invalid = 'version: 1\nagents:\n  debuger: { slashCommand: debugger }\nrotues: {}\n';

type Change = (project: ScratchProject) => Promise<void>;
const given =
  (files: Record<string, string>): Change =>
  (project) =>
    project.write(files);
const removed =
  (...names: readonly string[]): Change =>
  async ({ dir }) => {
    for (const name of names) rmSync(path.join(dir, name), { recursive: true });
  };

it.each<[what: string, files: Record<string, string>, change: Change, flags: string, says: RegExp[]]>([
  [
    'without Playwright',
    shopFiles,
    removed('node_modules'),
    '',
    [/@playwright\/test is not installed in/, /→ /],
  ],
  [
    'in the root of a repository whose suite is a package of its own',
    {
      'e2e/package.json': '{}',
      'e2e/playwright.config.ts': 'export default {};',
    },
    removed('node_modules'),
    '',
    [/→ Found e2e\/playwright\.config\.ts: cd e2e, and start self-heal there/],
  ],
  ['without a Playwright config', withoutConfig, given({}), '', [/no playwright\.config\.ts/, /→ /]],
  [
    'without a browser',
    { ...pageFiles, ...own },
    given({ 'playwright.config.ts': nowhere }),
    '',
    [/no browser at \/nowhere\/chrome/, /→ /],
  ],
  [
    'with mistakes in agents.yaml, all named at once',
    shopFiles,
    given({ 'agents.yaml': invalid }),
    '',
    [/did you mean "routes"\?/, /slashCommand/, /→ /],
  ],
  ['with an unknown flag', shopFiles, given({}), '--hedaed', [/--headed/]],
  ['with an unknown level of proof', shopFiles, given({}), '--verify most', [/quick.*full.*clean/]],
])(
  'CL-1 CL-2 CL-5 CF-3 HN-5 exits with 2 %s, says what to do, and starts no agent',
  async (_what, files, change, flags, says) => {
    const project = await scratchProject(files);
    await change(project);
    const ended = await project.selfHeal(['run', ...flags.split(' ').filter(Boolean)]);
    expect(ended.exitCode).toBe(2);
    // Playwright printed everything before it.
    const stderr = ended.stderr.slice(Math.max(0, ended.stderr.indexOf('self-heal: ')));
    for (const said of says) expect(stderr).toMatch(said);
    expect(stderr).not.toMatch(/\n\s+at .*\.js:\d+/);
    expect(ended.events.map((event) => event.type)).not.toContain('agent.started');
    if (!existsSync(path.join(project.dir, 'node_modules')))
      expect(existsSync(path.join(project.dir, '.self-heal'))).toBe(false);
  },
);

it('CF-1 reads the agents.yaml beside the config that -c names, and says so', async () => {
  const { 'playwright.config.ts': config, ...files } = shopFiles;
  const project = await scratchProject({
    ...files,
    'e2e/playwright.config.ts': config.replace("'tests'", "'../tests'"),
    'e2e/agents.yaml': 'version: 1\nrotues: {}\n',
  });
  const { exitCode, stderr } = await project.selfHeal(['run', '-c', 'e2e/playwright.config.ts']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('settings: e2e/agents.yaml');
  expect(stderr).toContain('did you mean "routes"?');
});

it('CS-10 RP-3 RP-2 heals a suite that does not compile as one cause without tests', async () => {
  const spec = `import { price } from '../lib/price';\n${shopFiles['tests/shop.spec.ts']}\nvoid price;`;
  const fixer = `import { readFileSync, writeFileSync } from 'node:fs';
    writeFileSync('lib/price.ts', readFileSync('lib/price.ts', 'utf8').replace('= {;', '= 9;'));`;
  const project = await scratchProject({
    ...shopFiles,
    'tests/shop.spec.ts': spec,
    'lib/price.ts': 'export const price = {;\n',
    'fixer.mjs': fixer,
    ...own,
  });
  const env = { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: path.join(tempDir('actions'), 'output') };
  const { exitCode, report } = await project.selfHeal(['run'], env);
  expect(report?.totals).toMatchObject({ tests: 1, passed: 1, healed: 0 });
  expect(readFileSync(env.GITHUB_OUTPUT, 'utf8')).toMatch(/^healed<<(\S+)\n0\n\1$/m);
  expect(report?.causes).toMatchObject([
    { category: 'build-error', verdict: 'healed', attempts: [{ agent: 'build-doctor' }] },
  ]);
  expect(report?.tests).toMatchObject([{ verdict: 'passed' }]);
  expect(exitCode).toBe(0);
});

it('RP-3 a run that cannot start gives its reason in GitHub Actions too', async () => {
  const summary = path.join(tempDir('actions'), 'summary');
  const project = await scratchProject({ 'package.json': '{ "name": "empty" }' });
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
  const { exitCode, stderr } = await project.selfHeal(['run'], env);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^::error title=self-heal could not run::/m);
  expect(readFileSync(summary, 'utf8')).toContain('## self-heal could not run');
});

it.skipIf(process.platform === 'win32')('CL-5 exits with 2 in a folder that no longer exists', async () => {
  const gone = tempDir('gone');
  const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" doctor';
  const ended = await execa('sh', ['-c', script, 'sh', gone, process.execPath, cli], {
    env: userEnv(),
    extendEnv: false,
    reject: false,
  });
  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toMatch(/the current folder no longer exists[^]*→ Change to your project/);
});
