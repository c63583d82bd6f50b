import { describe, expect, it } from 'vitest';
import { scratchProject } from '../rig/scratch-project.js';

/** A suite without a browser whose second test fails as often as `failures.txt` says; its agent program does not exist. */
const files = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts': "export default { testDir: 'tests', workers: 1, reporter: [['list']] };",
  'tests/a.spec.ts': `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { test, expect } from '@playwright/test';
    test('is green', () => {});
    test('is red at times', () => {
      const left = Number(readFileSync('failures.txt', 'utf8'));
      writeFileSync('failures.txt', String(left - 1));
      if (left > 0) throw new TypeError("Cannot read properties of undefined (reading 'id')");
    });
    test('is red at times too', () => expect(Number(readFileSync('failures.txt', 'utf8'))).toBeLessThan(5));`,
  'agents.yaml': `version: 1
runner: own
runners: { own: { command: [no-such-program] } }
`,
};

describe('self-heal run without an agent program', () => {
  it('CL-5 is green where the suite is', async () => {
    const project = await scratchProject({ ...files, 'failures.txt': '0' });
    const { exitCode, stderr } = await project.selfHeal(['run']);
    expect({ exitCode, told: stderr.includes('no-such-program') }).toEqual({ exitCode: 0, told: false });
  });

  it('CL-5 HL-7 is green where a red test is flaky', async () => {
    const project = await scratchProject({ ...files, 'failures.txt': '1' });
    const { exitCode, report } = await project.selfHeal(['run']);
    expect(exitCode).toBe(0);
    expect(report?.tests.map(({ verdict }) => verdict)).toEqual(['passed', 'flaky', 'passed']);
  });

  it('CL-5 confirms, diagnoses and reports what is red, ends with 5, and says what to install', async () => {
    const project = await scratchProject({ ...files, 'failures.txt': '99' });
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
