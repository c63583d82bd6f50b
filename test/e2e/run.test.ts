import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commitFolder } from '../rig/git-repository.js';
import { all, readXml } from '../rig/read-xml.js';
import {
  agentsYaml,
  findCause,
  scratchProject,
  shopFiles,
  type Finished,
  type ScratchProject,
} from '../rig/scratch-project.js';
import { tempDir, tempDirOfFile } from '../rig/temp-dir.js';

it('CL-4 CL-3 CL-5 a green suite changes nothing, needs no agent, and keeps the user’s reporter', async () => {
  const missing = { 'agents.yaml': agentsYaml(['no-such-program-anywhere']) };
  const project = await scratchProject({ ...shopFiles, ...missing });
  const git = commitFolder(project.dir, 'all');
  const { exitCode, stdout, report, events } = await project.selfHeal(['run']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('1 passed');
  expect(report).toMatchObject({ outcome: 'green', totals: { passed: 1, agentRuns: 0 }, causes: [] });
  expect(events.map((event) => event.type)).not.toContain('agent.started');
  expect(git('status', '--porcelain')).toBe('');
  const none = await project.selfHeal(['run', '--only-changed']);
  expect(none).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('no test was selected') });
});

it('HN-1 HL-7 CL-5 the copy is made while the suite runs, and removed if the red test was flaky', async () => {
  const project = await scratchProject({
    ...shopFiles,
    'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
    'fixer.mjs': '',
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
      test('sees the copy, and the work folder of the run', () =>
        expect.poll(() => readdirSync(process.env.XDG_CACHE_HOME), { timeout: 20_000 }).toHaveLength(2));`,
  });
  const cache = tempDir();
  const run = await project.selfHeal(['run', '--fail-on-flaky-tests'], { XDG_CACHE_HOME: cache });
  expect(run.report?.totals).toMatchObject({ flaky: 1, passed: 2, agentRuns: 0 });
  expect(readdirSync(cache)).toEqual([]);
  expect(run.exitCode).toBe(1);
});

describe('red tests', () => {
  const { 'tests/shop.spec.ts': _, 'page.html': __, ...shared } = shopFiles;
  const head = `import { test, expect } from '@playwright/test';\nimport { readFileSync } from 'node:fs';\n`;
  const reads = (title: string, file: string, word = 'Thanks') =>
    `test('${title}', () => expect(readFileSync('${file}', 'utf8').includes('${word}'), '${title}').toBe(true));\n`;
  const words = ['heals', 'deletes', 'is left'];
  const files: Record<string, string> = {
    ...shared,
    'playwright.config.ts': shared['playwright.config.ts'].replace("[['list']]", "[['list'], ['junit']]"),
    ...Object.fromEntries(words.map((word) => [`${word}.txt`, 'Tanks\n'])),
    'prices.txt': 'tea 3.00, with tx\n',
    'tests/a.spec.ts': `${head}${reads('heals', 'heals.txt')}${reads('adds tax', 'prices.txt', 'with tax')}`,
    'tests/b.spec.ts': `${head}${reads('deletes', 'deletes.txt')}`,
    'tests/0-prices.spec.ts': `${head}${reads('keeps its price', 'prices.txt', 'tea 3.00')}`,
    'tests/c.spec.ts': `${head}${reads('is left', 'is left.txt')}`,
    'fixer.mjs': `
      import { readFileSync, rmSync, writeFileSync } from 'node:fs';
      const word = JSON.parse(readFileSync(process.env.SELF_HEAL_CONTEXT, 'utf8')).test.titlePath.at(-1);
      writeFileSync(process.env.GOT + '/' + word, readFileSync(0));
      if (word === 'heals') writeFileSync('heals.txt', 'Thanks\\n');
      if (word === 'deletes') rmSync('tests/b.spec.ts');
      if (word === 'adds tax') writeFileSync('prices.txt', 'tea 3.21, with tax\\n');
      console.log('Fix applied successfully');`,
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'limits: { agentRuns: 3 }\nverify: { repeat: 2 }', 1),
  };

  let project: ScratchProject;
  let run: Finished;
  const outside = tempDirOfFile('of the job');
  const job = {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: path.join(outside, 'summary'),
    GITHUB_OUTPUT: path.join(outside, 'output'),
    PLAYWRIGHT_JUNIT_OUTPUT_FILE: path.join(outside, 'playwright.xml'),
  };
  beforeAll(async () => {
    project = await scratchProject(files, tempDirOfFile('red tests'));
    run = await project.selfHeal(['run', '--json'], { ...job, GOT: outside });
  });

  it('HL-1 RP-2 RP-4 CL-6 are healed by an agent and a green re-run; report, events and --json agree', async () => {
    expect(JSON.parse(run.stdout)).toEqual(run.report);
    expect(run.report).toMatchObject({ schemaVersion: 1 });
    const cause = findCause(run, 'heals');
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
    expect(told.map(({ type }) => type)).toEqual(expect.arrayContaining(types));
    const patch = await project.selfHeal(['report', '--patch']);
    expect(patch.stdout).toMatch(/^diff --git [^]*\+Thanks/);
  });

  it('CL-13 announce how long each further Playwright run will probably take', () => {
    expect(run.stderr).toMatch(/to rule out a flake \(run 2, about [\d.]+ ?m?s\)/);
  });

  it('RP-2 RP-3 leave a summary, annotations, outputs and reports in GitHub Actions', async () => {
    const commands = run.stderr.split('\n').filter((line) => line.startsWith('::'));
    expect(commands.map((line) => /^::\w+ file=[^,]+,line=\d+/.exec(line)?.[0] ?? line).toSorted()).toEqual([
      '::error file=tests/a.spec.ts,line=4',
      '::error file=tests/b.spec.ts,line=3',
      '::error file=tests/c.spec.ts,line=3',
      '::notice file=tests/a.spec.ts,line=3',
    ]);
    const summary = readFileSync(job.GITHUB_STEP_SUMMARY, 'utf8');
    expect(summary).toBe(await project.read('.self-heal/latest/summary.md'));
    expect(readFileSync(job.GITHUB_OUTPUT, 'utf8')).toMatch(
      /^outcome<<(?<end>\S+)\nbudget\n\k<end>\nhealed<<\k<end>\n1\n\k<end>\n/,
    );
    const ours = readXml(await project.read('.self-heal/latest/junit.xml'));
    const theirs = readXml(readFileSync(job.PLAYWRIGHT_JUNIT_OUTPUT_FILE, 'utf8'));
    const [names, expected] = [ours, theirs].map((xml) =>
      all(xml, 'testcase').map(({ attributes }) => [attributes['classname'], attributes['name']]),
    );
    expect(names).toHaveLength(5);
    expect(names).toEqual(expected);
  });

  it('CL-9 have prompts that inspect prints byte for byte', async () => {
    const shown = await project.selfHeal(['inspect', findCause(run, 'heals').id, '--prompt']);
    expect(`${shown.stdout}\n`).toBe(readFileSync(path.join(outside, 'heals'), 'utf8'));
    expect(shown.stderr).toContain('as sent to /code-review in attempt 1');
  });

  it('HN-5 are red twice, green with the fix, red with it reverted, and green with it reapplied', async () => {
    expect(findCause(run, 'heals').proof.join(' ')).toBe('red red green green red green');
    expect(await project.read('heals.txt')).toContain('Thanks');
  });

  it('HN-6 keep no fix that breaks another test; the cause names that test', async () => {
    const cause = findCause(run, 'adds tax');
    expect(cause).toMatchObject({ verdict: 'failed', attempts: [{ end: { kind: 'taken-out' } }] });
    expect(cause.reason).toContain('keeps its price');
    expect(run.report?.regression?.broke).toMatchObject([{ causeId: cause.id, tests: [expect.any(String)] }]);
    expect(await project.read('prices.txt')).toBe(files['prices.txt']);
  });

  it('HL-10 HN-3 are not fixed by deleting them: the test stays, and no person is asked', () => {
    const attempts = [{ end: { kind: 'still-failing' }, cut: [{ file: 'tests/b.spec.ts' }] }];
    expect(findCause(run, 'deletes').attempts).toMatchObject(attempts);
    expect(existsSync(path.join(project.dir, 'tests/b.spec.ts'))).toBe(true);
  });

  it('CL-5 exit with 4 if a limit ends the run', () => {
    expect(run.exitCode).toBe(4);
    expect(run.report).toMatchObject({ outcome: 'budget', totals: { agentRuns: 3 } });
    expect(findCause(run, 'is left').attempts).toEqual([]);
  });
});
