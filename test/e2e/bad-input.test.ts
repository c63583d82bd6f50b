import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import {
  agentsYaml,
  pageFiles,
  scratchProject,
  shopFiles,
  userEnv,
  type Finished,
} from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const cli = path.resolve(import.meta.dirname, '../../bin/self-heal.js');
const own = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs']) };
const idle = { ...own, 'fixer.mjs': '' };

/** Expects one message with a remedy, and no stack trace. */
function expectProblem({ stderr: all, stdout }: Finished, about: RegExp): void {
  // Playwright printed everything before it.
  const stderr = all.slice(all.indexOf('self-heal: '));
  expect(stderr).toMatch(about);
  expect(stderr).toMatch(/→ /);
  expect(stderr).not.toMatch(/\n\s+at .*\.js:\d+/);
  expect(stdout).not.toMatch(/healed/);
}

it('CL-2 exits with 2 without Playwright, says what to install, and writes nothing', async () => {
  const project = await scratchProject();
  rmSync(path.join(project.dir, 'node_modules'), { recursive: true });
  const ended = await project.selfHeal(['run']);
  expect(ended.exitCode).toBe(2);
  expectProblem(ended, /@playwright\/test is not installed in/);
  expect(existsSync(path.join(project.dir, '.self-heal'))).toBe(false);
});

it('CL-2 exits with 2 without a Playwright config, and says how to create one', async () => {
  const { 'playwright.config.ts': _, ...files } = shopFiles;
  const ended = await (await scratchProject(files)).selfHeal(['run']);
  expect(ended.exitCode).toBe(2);
  expectProblem(ended, /no playwright\.config\.ts/);
});

it('CL-2 exits with 2 without a browser, says how to install one, and starts no agent', async () => {
  const config = `export default { testDir: 'tests', use: { launchOptions: { executablePath: '/nowhere/chrome' } } };`;
  const project = await scratchProject({ ...pageFiles, 'playwright.config.ts': config, ...idle });
  const ended = await project.selfHeal(['run']);
  expect(ended.exitCode).toBe(2);
  expectProblem(ended, /no browser at \/nowhere\/chrome/);
  expect(ended.events.map((event) => event.type)).not.toContain('agent.started');
});

it('CF-3 exits with 2 on an invalid agents.yaml, names all mistakes at once, and runs nothing', async () => {
  const yaml = 'version: 1\nagents:\n  debuger: { slashCommand: debugger }\nrotues: {}\n';
  const ended = await (await scratchProject({ ...shopFiles, 'agents.yaml': yaml })).selfHeal(['run']);
  expect(ended.exitCode).toBe(2);
  expectProblem(ended, /agents\.yaml/);
  expect(ended.stderr).toContain('did you mean "routes"?');
  expect(ended.stderr).toContain('slashCommand');
  expect(ended.events).toEqual([]);
});

it('CL-1 exits with 2 on an unknown flag, with a suggestion', async () => {
  const ended = await (await scratchProject()).selfHeal(['run', '--hedaed']);
  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain('--headed');
});

it('CL-1 HN-5 exits with 2 on an unknown level of proof, and lists the valid ones', async () => {
  const ended = await (await scratchProject()).selfHeal(['run', '--verify', 'most']);
  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toMatch(/quick.*full.*none/);
});

it('CL-1 exits with 2 on an unknown Playwright project, with Playwright’s own message', async () => {
  const project = await scratchProject({ ...shopFiles, ...idle });
  const ended = await project.selfHeal(['run', '--project', 'firefoxx']);
  expect(ended.exitCode).toBe(2);
  expectProblem(ended, /Project\(s\) "firefoxx" not found/);
});

it('CS-10 RP-3 RP-2 heals a suite that does not compile as one build error, and counts it, so that its fix is not lost in CI', async () => {
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
  expect(report?.totals).toMatchObject({ tests: 1, passed: 1, healed: 1 });
  expect(readFileSync(env.GITHUB_OUTPUT, 'utf8')).toMatch(/^healed<<(\S+)\n1\n\1$/m);
  expect(report?.causes).toMatchObject([
    { category: 'build-error', verdict: 'healed', attempts: [{ agent: 'build-doctor' }] },
  ]);
  expect(report?.tests).toMatchObject([{ verdict: 'passed' }]);
  expect(exitCode).toBe(0);
});

it('CL-2 exits with 2 before anything runs if the changes of agents cannot be kept', async () => {
  const project = await scratchProject({ ...shopFiles, ...idle, '.self-heal/changes': '' });
  const ended = await project.selfHeal(['run']);
  expect(ended.exitCode).toBe(2);
  expectProblem(ended, /\.self-heal.changes is not a folder/);
  expect(ended.events).toEqual([]);
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
  expect(ended.stderr).toContain('the current folder does not exist any more');
  expect(ended.stderr).toMatch(/→ Change to your project/);
});
