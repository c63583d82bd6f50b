import { describe, expect, it } from 'vitest';
import { listRunIds } from '../../src/run/find-run.js';
import { committed } from '../rig/git-repository.js';
import { isLong } from '../rig/long.js';
import { agentsYaml, scratchProject, shopFiles } from '../rig/scratch-project.js';

/** Counts the runs of a test: the first is red, the two that confirm it are green, and of those that follow four of five are red. */
const head = `
  import { test, expect } from '@playwright/test';
  import { appendFileSync, readFileSync } from 'node:fs';
  const isRed = (name) => {
    appendFileSync(name, 'x');
    const nth = readFileSync(name, 'utf8').length;
    return nth === 1 || (nth > 3 && nth % 5 !== 2);
  };`;

const planted = {
  ...shopFiles,
  'odds.txt': 'often',
  'tests/shop.spec.ts': `${head}
    test('races', () => {
      const odds = readFileSync('odds.txt', 'utf8');
      const now = isRed('races.ran');
      const saved = odds === 'often' ? !now : odds === 'seldom' ? now : true;
      expect(saved).toBe(true);
    });`,
};

const settings = 'flaky: { runs: 10, time: 10m }\nverify: { flips: 0, regression: none }';

/** An agent that writes a file. */
const writes = (file: string, text: string) => `
  import { writeFileSync } from 'node:fs';
  writeFileSync(${JSON.stringify(file)}, ${JSON.stringify(text)});
  console.log('SELF-HEAL: ' + JSON.stringify({ status: 'fixed', summary: 'edited' }));`;

it('HL-7 re-runs a test that was green in the same state earlier before starting an agent', async () => {
  const test = (reds: readonly number[]) => `${head}
    test('races', () => {
      appendFileSync('races.ran', 'x');
      const nth = readFileSync('races.ran', 'utf8').length;
      expect(${JSON.stringify(reds)}).not.toContain(nth);
    });`;
  const project = await scratchProject({
    ...shopFiles,
    '.gitignore': '*.ran\n.self-heal\nnode_modules\ntest-results\n',
    'tests/before.spec.ts': `${head}[1, 2, 3, 4].forEach((n) => test('before ' + n, () => {}));`,
    'tests/shop.spec.ts': test([2, 3]),
    'fixer.mjs': writes('odds.txt', 'never'),
    'agents.yaml': agentsYaml(['node', 'fixer.mjs'], settings),
  });
  committed(project.dir, 'shop');
  expect((await project.selfHeal(['run'])).exitCode).toBe(0);
  const { report, stderr, exitCode } = await project.selfHeal(['run']);
  expect(report?.tests, stderr).toHaveLength(5);
  expect(report?.totals).toMatchObject({ flaky: 1, agentRuns: 0, playwrightRuns: 3 });
  expect(exitCode).toBe(0);
});

describe('self-heal flaky', () => {
  it(
    'FL-3 FL-4 FL-5 FL-6 run --flaky continues with the flaky tests, and keeps a proven fix',
    { timeout: 600_000 },
    async () => {
      const project = await scratchProject({
        ...planted,
        'fixer.mjs': writes('odds.txt', 'never'),
        'agents.yaml': agentsYaml(['node', 'fixer.mjs'], settings),
      });
      const { report, stderr, events } = await project.selfHeal(['run', '--flaky']);
      expect(
        report?.causes.map(({ category, verdict }) => `${category}: ${verdict}`),
        stderr,
      ).toEqual(['flaky: healed']);
      for (const { green } of report?.flakes ?? []) {
        expect(green?.red).toBe(0);
        expect(green?.runs).toBeGreaterThan(2);
      }
      const about = events.flatMap((event) => (event.type === 'suite.started' && event.about) || []);
      expect(new Set(about)).toEqual(new Set(['shop.spec.ts › races']));
      expect(await project.read('odds.txt')).toBe('never');

      const { stdout } = await project.selfHeal(['flaky', '--list', '--json']);
      const { flakes } = JSON.parse(stdout) as { flakes: { name: string; kind: string }[] };
      expect(flakes).toMatchObject([{ name: 'shop.spec.ts › races', kind: 'random' }]);
    },
  );

  it('FL-1 CL-4 measures the selected tests without their set-up; without an agent it refuses at once', async () => {
    const config = `import { defineConfig } from '@playwright/test';
      const projects = [{ name: 'set-up', testMatch: /setup/ }, { name: 'shop', dependencies: ['set-up'] }];
      export default defineConfig({ testDir: 'tests', projects });`;
    const test = "import { test } from '@playwright/test';\n";
    const project = await scratchProject({
      'playwright.config.ts': config,
      'tests/a.setup.ts': `${test}test('signs in', () => {});`,
      'tests/shop.spec.ts': `${test}test('buys', () => {});\ntest('pays', () => {});`,
      'agents.yaml': agentsYaml(['no-such-program'], 'flaky: { runs: 2, time: 10s }'),
    });
    const runs = async () => (await listRunIds(project.dir)).length;
    const refused = await project.selfHeal(['flaky', 'shop.spec.ts:2']);
    expect([refused.exitCode, await runs()], refused.stderr).toEqual([5, 0]);
    const measured = await project.selfHeal(['flaky', '--project=shop', '--dry-run']);
    const counts = measured.events.flatMap((event) => (event.type === 'suite.started' && event.tests) || []);
    expect(counts.at(-1), measured.stderr).toBe(2);
    const again = await project.selfHeal(['flaky']);
    expect([again.exitCode, await runs()]).toEqual([5, 1]);
    expect(again.events, 'latest names the run before').toEqual(measured.events);
  });

  it.runIf(isLong)(
    'FL-4 reverts a fix that only makes a test fail less often',
    { timeout: 600_000 },
    async () => {
      const project = await scratchProject({
        ...planted,
        'fixer.mjs': writes('odds.txt', 'seldom'),
        'agents.yaml': agentsYaml(['node', 'fixer.mjs'], settings, 1),
      });
      const { report, stderr } = await project.selfHeal(['flaky', 'shop.spec.ts']);
      expect(report?.tests, stderr).toMatchObject([{ verdict: 'flaky' }]);
      expect(await project.read('odds.txt')).toBe('often');
    },
  );
});
