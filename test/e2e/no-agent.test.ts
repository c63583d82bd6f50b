import { describe, expect, it } from 'vitest';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { scratchProject } from '../rig/scratch-project.js';
import { tempDir } from '../rig/temp-dir.js';

/** A suite that needs no browser. Its second test is red, after which the first run does not get to the third; the agent program does not exist. */
const files = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts':
    "export default { testDir: 'tests', workers: 1, maxFailures: 1, reporter: [['list']] };",
  'tests/a.spec.ts': `
    import { test, expect } from '@playwright/test';
    test('is green', () => {});
    test('is red', () => { throw new TypeError("Cannot read properties of undefined (reading 'id')"); });
    test('is red too', () => expect(5).toBeLessThan(5));`,
  'agents.yaml': `version: 1
runner: own
runners: { own: { command: [no-such-program] } }
`,
};

describe('self-heal run without an agent program', () => {
  it('CL-5 HL-3 HN-7 diagnoses red tests, names the missing program, and exits with 5', async () => {
    const project = await scratchProject(files);
    const { exitCode, report, stderr } = await project.selfHeal(['run']);
    expect(exitCode, stderr).toBe(5);
    expect(report?.outcome).toBe('agent-unusable');
    expect(report?.tests.map(({ verdict }) => verdict)).toEqual([
      'passed',
      'agent-unusable',
      'agent-unusable',
    ]);
    expect(report?.causes).toHaveLength(2);
    expect(report?.causes[0]).toMatchObject({ category: 'runtime-error', attempts: [] });
    expect(report?.warnings).toEqual([expect.stringContaining('no-such-program')]);
    const shown = await project.selfHeal(['inspect', 'c1', '--prompt']);
    expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Cannot read properties') });
  });
});

/** A PATH with nothing but Node, so that no agent program of this machine is found. */
function nodeAlone(): string {
  const bin = tempDir();
  symlinkSync(process.execPath, path.join(bin, 'node'));
  return bin;
}

/** A missing `this` keeps the suite from starting; behind that, an expectation fails that only a person can decide. */
const unbuilt = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts':
    "export default { testDir: 'tests', workers: 1, reporter: [['list']], globalSetup: './build.ts' };",
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      types: [],
      // All that it needs, which is much less to read.
      lib: ['es5'],
    },
    include: ['src'],
  }),
  'build.ts': `
    import { spawnSync } from 'node:child_process';
    export default () => {
      const { status, stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc'], { encoding: 'utf8' });
      if (status !== 0) throw new Error('The build failed:\\n' + stdout);
    };`,
  'src/price.ts': `
    class Money {
      cents = 100;
      euros(amount: number) { return amount / cents; }
    }
    export const price = (amount: number) => '€' + new Money().euros(amount);
  `,
  'tests/a.spec.ts': `
    import { test, expect } from '@playwright/test';
    import { price } from '../src/price.ts';
    test('is mended', () => expect(price(200)).toBe('€2'));
    test('is a matter of opinion', () => expect(price(300)).toBe('€ 3'));`,
};

describe('self-heal run on a machine with only Node and Playwright', () => {
  it('BF-1 BF-3 BF-5 CL-5 heals with the built-in fixer, and reports other failures with their prompts', async () => {
    const project = await scratchProject(unbuilt);
    const flags = ['--verify', 'quick'];
    const { exitCode, report, stderr } = await project.selfHeal(['run', ...flags], { PATH: nodeAlone() });
    expect(exitCode, stderr).toBe(1);
    expect(await project.read('src/price.ts')).toContain('amount / this.cents');
    expect(report?.tests.map(({ verdict }) => verdict)).toEqual(['passed', 'failed']);
    expect(report?.totals).toMatchObject({ agentRuns: 0 });
    expect(report?.causes[0]?.attempts).toMatchObject([
      { agent: 'built-in', runner: 'built-in', costUsd: 0 },
    ]);
    expect(report?.causes.at(-1)).toMatchObject({ verdict: 'failed', attempts: [] });
    const shown = await project.selfHeal(['inspect', report?.causes.at(-1)?.id ?? '', '--prompt']);
    expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('€ 3') });
  });
});
