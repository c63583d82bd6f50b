import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  agentsYaml,
  causeOf,
  scratchProject,
  shopFiles,
  type Finished,
  type ScratchProject,
} from '../rig/scratch-project.js';
import { tempDir, tempDirOfFile } from '../rig/temp-dir.js';

const idle = { 'fixer.mjs': 'console.log("Fix applied successfully")' };
const own = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs']) };

it('CL-4 CL-3 CL-5 a green suite changes nothing, needs no agent, and leaves the output of the user’s reporter as it is', async () => {
  const missing = { 'agents.yaml': agentsYaml(['no-such-program-anywhere']) };
  const project = await scratchProject({ ...shopFiles, ...missing });
  execFileSync('git', ['init', '-q'], { cwd: project.dir });
  const git = () => execFileSync('git', ['status', '--porcelain'], { cwd: project.dir, encoding: 'utf8' });
  const before = git();
  const { exitCode, stdout, report, events } = await project.selfHeal(['run']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('1 passed');
  expect(report).toMatchObject({ outcome: 'green', totals: { passed: 1, agentRuns: 0 }, causes: [] });
  expect(events.map((event) => event.type)).not.toContain('agent.started');
  expect(git()).toBe(before);
});

it('CL-4 says that a green run had no test to run', async () => {
  const project = await scratchProject({ ...shopFiles, '.gitignore': 'node_modules\ntest-results\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: project.dir,
    });
  git('init', '-q');
  git('add', '--all');
  git('commit', '-qm', 'all');
  const { exitCode, stderr } = await project.selfHeal(['run', '--only-changed']);
  expect(stderr).toContain('no test was selected');
  expect(exitCode).toBe(0);
});

it('HN-1 HL-7 CL-5 the copy is made while the suite continues after a red test, and removed if that was flaky, which fails the run only if asked', async () => {
  const project = await scratchProject({
    ...shopFiles,
    ...idle,
    ...own,
    'tests/a.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { existsSync, writeFileSync } from 'node:fs';
      test('is red once', () => {
        const hasRun = existsSync('.ran');
        writeFileSync('.ran', '');
        expect(hasRun).toBe(true);
      });`,
    'tests/b.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { readdirSync } from 'node:fs';
      test('sees the copy', () =>
        expect.poll(() => readdirSync(process.env.XDG_CACHE_HOME), { timeout: 20_000 }).toHaveLength(1));`,
  });
  const cache = tempDir();
  const run = await project.selfHeal(['run', '--fail-on-flaky-tests'], { XDG_CACHE_HOME: cache });
  expect(run.report?.totals).toMatchObject({ flaky: 1, passed: 2, agentRuns: 0, agentRunsAvoided: 1 });
  expect(readdirSync(cache)).toEqual([]);
  expect(run.exitCode).toBe(1);
});

describe('red tests', () => {
  const words = ['heals', 'claims', 'misspells', 'deletes', 'is left'];
  const wants = (word: string) =>
    `test('${word}', () => expect(readFileSync('${word}.txt', 'utf8').includes('Thanks'), '${word}').toBe(true));\n`;
  const head = `import { test, expect } from '@playwright/test';\nimport { readFileSync } from 'node:fs';\n`;
  const { 'tests/shop.spec.ts': _, 'page.html': __, ...shared } = shopFiles;
  const files: Record<string, string> = {
    ...shared,
    ...Object.fromEntries(words.map((word) => [`${word}.txt`, 'Tanks\n'])),
    'tests/a.spec.ts': `${head}${words.slice(0, 3).map(wants).join('')}
test('looks the same', () => { expect('text').toMatchSnapshot('text.txt'); });`,
    'tests/b.spec.ts': `${head}${wants('deletes')}`,
    'tests/c.spec.ts': `${head}${wants('is left')}`,
    'fixer.mjs': `
      import { readFileSync, rmSync, writeFileSync } from 'node:fs';
      const word = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test.titlePath.at(-1);
      if (word === 'heals') writeFileSync('heals.txt', 'Thanks\\n');
      if (word === 'misspells') writeFileSync('misspells.txt', 'Banks\\n');
      if (word === 'deletes') rmSync('tests/b.spec.ts');
      console.log('Fix applied successfully');`,
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'limits: { agentRuns: 4 }', 1),
  };

  let project: ScratchProject;
  let dry: Finished;
  let run: Finished;
  beforeAll(async () => {
    project = await scratchProject(files, tempDirOfFile('red tests'));
    dry = await project.selfHeal(['run', '--dry-run']);
    run = await project.selfHeal(['run', '--json']);
  });

  it('CL-7 are only diagnosed by --dry-run, which prints the prompts and starts no agent', () => {
    expect(dry.exitCode).not.toBe(0);
    expect(dry.stdout).toContain('c1 ui-error → /code-review (own)');
    expect(dry.stdout).toContain('Fix this error so the test can pass');
    expect(dry.report).toMatchObject({ dryRun: true, totals: { agentRuns: 0 } });
  });

  it('HL-1 RP-2 RP-4 CL-6 are healed by an agent, as the re-run decides; report, events and --json say so', async () => {
    expect(JSON.parse(run.stdout)).toEqual(run.report);
    expect(run.report).toMatchObject({ schemaVersion: 1 });
    const cause = causeOf(run, 'heals');
    const test = run.report?.tests.find(({ id }) => cause.tests.includes(id));
    expect(test).toMatchObject({ verdict: 'healed', retries: 1, causeId: cause.id, file: 'tests/a.spec.ts' });
    expect(cause).toMatchObject({
      category: 'ui-error',
      attempts: [{ end: { kind: 'green' }, exit: 'completed', patch: 'attempts/1.patch' }],
    });
    const types = ['cause.found', 'agent.started', 'agent.ended', 'attempt.judged', 'cause.ended'];
    const told = run.events.filter(
      (event) =>
        types.includes(event.type) &&
        (event.type === 'cause.found' ? event.cause.id : 'causeId' in event && event.causeId) === cause.id,
    );
    expect(told.map(({ type }) => type)).toEqual(types);
    const patch = await project.selfHeal(['report', '--patch']);
    expect(patch.stdout).toMatch(/^diff --git [^]*\+Thanks/);
  });

  it('AG-8 HL-5 are not healed by the claim of an agent that changed nothing', () => {
    expect(causeOf(run, 'claims')).toMatchObject({
      verdict: 'failed',
      attempts: [{ files: [], claim: { status: 'fixed' }, end: { kind: 'still-failing' } }],
    });
  });

  it('HN-1 keep no fix that leaves them red', async () => {
    expect(causeOf(run, 'misspells').attempts).toMatchObject([
      { exit: 'completed', end: { kind: 'still-failing' } },
    ]);
    expect(await project.read('misspells.txt')).toBe(files['misspells.txt']);
  });

  it('HL-10 HN-3 are not fixed by deleting them, nor is a person asked about it, and the test is there', () => {
    expect(causeOf(run, 'deletes').attempts).toMatchObject([
      { end: { kind: 'still-failing' }, cut: [{ file: 'tests/b.spec.ts' }] },
    ]);
    expect(existsSync(path.join(project.dir, 'tests/b.spec.ts'))).toBe(true);
  });

  it('CL-1 are not healed by a run that writes their missing snapshot', () => {
    expect(causeOf(run, 'looks the same')).toMatchObject({ verdict: 'failed', attempts: [] });
    expect(readdirSync(path.join(project.dir, 'tests'))).toEqual(['a.spec.ts', 'b.spec.ts', 'c.spec.ts']);
  });

  it('CL-5 exit with 4 if a limit ends the run', async () => {
    expect(run.exitCode).toBe(4);
    expect(run.report).toMatchObject({ outcome: 'budget', totals: { agentRuns: 4 } });
    expect(causeOf(run, 'is left').attempts).toEqual([]);
    expect(await project.read('is left.txt')).toBe(files['is left.txt']);
  });
});
