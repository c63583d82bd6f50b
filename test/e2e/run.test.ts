import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentsYaml, editingAgent, pageFiles, scratchProject, shopFiles } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

const broken = { 'page.html': '<button id="buy" onclick="this.textContent = \'Tanks\'">Buy</button>' };
const fixed = { 'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Thanks']]) };
const idle = { 'fixer.mjs': 'console.log("Fix applied successfully")' };
const own = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs']) };
const onlyOnce = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs'], '', 1) };

describe('a green suite', () => {
  it('CL-4 CL-3 changes nothing, starts no agent, and leaves the output of the user’s reporter as it is', async () => {
    const project = await scratchProject({ ...shopFiles, ...idle, ...own });
    execFileSync('git', ['init', '-q'], { cwd: project.dir });
    const git = () => execFileSync('git', ['status', '--porcelain'], { cwd: project.dir, encoding: 'utf8' });
    const before = git();
    const { exitCode, stdout, report, events } = await project.selfHeal(['run']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('1 passed');
    expect(report).toMatchObject({ outcome: 'green', totals: { passed: 1, agentRuns: 0 }, causes: [] });
    expect(events.map((event) => event.type)).not.toContain('agent.started');
    expect(git()).toBe(before);
    expect(existsSync(path.join(project.dir, '.self-heal', 'checkpoints.git'))).toBe(false);
  });
});

it('HN-1 HL-7 makes the copy while the suite continues after a red test, and removes it if that test was flaky', async () => {
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
  const { exitCode, report } = await project.selfHeal(['run'], { XDG_CACHE_HOME: cache });
  expect(report?.totals).toMatchObject({ flaky: 1, passed: 2, agentRuns: 0 });
  expect(readdirSync(cache)).toEqual([]);
  expect(exitCode).toBe(0);
});

describe('a red test', () => {
  it('HL-1 RP-2 RP-4 CL-6 is healed by the agent, as the re-run decides; report, events and --json say so', async () => {
    const project = await scratchProject({ ...pageFiles, ...broken, ...fixed, ...own });
    const { exitCode, stdout, report, events } = await project.selfHeal(['run', '--json']);
    expect(JSON.parse(stdout)).toEqual(report);
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      schemaVersion: 1,
      outcome: 'green',
      tests: [{ verdict: 'healed', retries: 1, causeId: 'c1', sharedFix: false, file: 'tests/shop.spec.ts' }],
      causes: [
        {
          category: 'ui-error',
          attempts: [{ judged: 'green', outcome: 'completed', patch: 'attempts/1.patch' }],
        },
      ],
    });
    const expectedTypes = [
      'cause.found',
      'agent.started',
      'agent.ended',
      'attempt.judged',
      'cause.ended',
      'run.ended',
    ];
    expect(events.map((event) => event.type).filter((type) => expectedTypes.includes(type))).toEqual(
      expectedTypes,
    );
    expect(await project.read('.self-heal/latest/attempts/1.patch')).toContain('+<button id="buy"');
    const patch = await project.selfHeal(['report', '--patch']);
    expect(patch.stdout).toMatch(/^diff --git [^]*\+<button id="buy"/);
  });

  it('AG-8 HL-5 is not healed by the claim of an agent that changed nothing', async () => {
    const project = await scratchProject({ ...shopFiles, ...broken, ...idle, ...onlyOnce });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(exitCode).toBe(1);
    expect(report?.causes[0]?.attempts[0]).toMatchObject({
      outcome: 'unchanged',
      claim: { status: 'fixed' },
      judged: 'still-failing',
    });
    expect(report?.tests[0]?.verdict).toBe('failed');
  });

  it('HN-1 keeps no fix that leaves it red', async () => {
    const wrong = { 'fixer.mjs': editingAgent([['page.html', 'Tanks', 'Banks']]) };
    const project = await scratchProject({ ...shopFiles, ...broken, ...wrong, ...own });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(exitCode).toBe(1);
    expect(await project.read('page.html')).toBe(broken['page.html']);
    expect(report?.causes[0]?.attempts.map((one) => [one.outcome, one.reverted])).toEqual([
      ['completed', true],
      ['completed', true],
      ['no-agent', false],
    ]);
  });

  it('CL-7 is only diagnosed by --dry-run, which prints the prompt and starts no agent', async () => {
    const project = await scratchProject({ ...shopFiles, ...broken, ...fixed, ...own });
    const { exitCode, stdout, report } = await project.selfHeal(['run', '--dry-run']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('c1 ui-error → /code-review (own)');
    expect(stdout).toContain('Fix this error so the test can pass');
    expect(report).toMatchObject({ dryRun: true, totals: { agentRuns: 0 } });
    expect(await project.read('page.html')).toBe(broken['page.html']);
  });

  it('CL-5 exits with 4 if a limit ends the run', async () => {
    const limited = { 'agents.yaml': agentsYaml(['node', 'fixer.mjs'], 'limits: { agentRuns: 1 }') };
    const project = await scratchProject({ ...shopFiles, ...broken, ...idle, ...limited });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(exitCode).toBe(4);
    expect(report).toMatchObject({ outcome: 'budget', totals: { agentRuns: 1 } });
  });

  it('CL-1 is not healed by the run writing its missing snapshot', async () => {
    const spec = `
      import { test, expect } from '@playwright/test';
      test('looks the same', () => { expect('text').toMatchSnapshot('text.txt'); });`;
    const project = await scratchProject({ ...shopFiles, 'tests/shop.spec.ts': spec, ...idle, ...onlyOnce });
    const { exitCode } = await project.selfHeal(['run']);
    expect(exitCode).toBe(3);
    expect(readdirSync(path.join(project.dir, 'tests'))).toEqual(['shop.spec.ts']);
  });
});

describe('a flaky test', () => {
  const flaky = {
    'tests/shop.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { existsSync, writeFileSync } from 'node:fs';
      test('needs two looks', () => {
        const seen = existsSync('test-results.marker');
        writeFileSync('test-results.marker', '');
        expect(seen).toBe(true);
      });`,
  };

  it('HL-7 CL-5 gets no agent, and fails the run with --fail-on-flaky-tests', async () => {
    const project = await scratchProject({ ...shopFiles, ...flaky, ...idle, ...own });
    const { exitCode, report } = await project.selfHeal(['run', '--fail-on-flaky-tests']);
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({
      tests: [{ verdict: 'flaky' }],
      totals: { agentRuns: 0, agentRunsAvoided: 1 },
    });
  });
});

describe('a test that the agent deleted', () => {
  it('HL-10 HN-3 does not count as fixed, nor is a person asked about it, and the test is there', async () => {
    const deletes = { 'fixer.mjs': `import { rmSync } from 'node:fs'; rmSync('tests/shop.spec.ts');` };
    const other = {
      'tests/other.spec.ts': `import { test } from '@playwright/test'; test('other', () => {});`,
    };
    const project = await scratchProject({ ...shopFiles, ...broken, ...deletes, ...other, ...own });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(exitCode).toBe(1);
    expect(report?.causes[0]?.attempts[0]).toMatchObject({
      judged: 'still-failing',
      cut: [{ file: 'tests/shop.spec.ts' }],
    });
    expect(existsSync(path.join(project.dir, 'tests/shop.spec.ts'))).toBe(true);
  });
});
