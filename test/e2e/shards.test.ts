import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import type { Report } from '../../src/run/report.js';
import { computeBlobId } from '../../src/workspace/patch-text.js';
import { aReport, aReportAttempt, aReportCause } from '../rig/a-report.js';
import { leaveRun } from '../rig/events-of-report.js';
import { isLong } from '../rig/long.js';
import { agentsYaml, type ScratchProject, scratchProject, userEnv } from '../rig/scratch-project.js';
import { repositoryOf, suiteOfShards } from '../rig/shards.js';
import { tempDir } from '../rig/temp-dir.js';
import { agentStarted } from '../rig/working-agent.js';

const verdicts = (report: Report | null) =>
  Object.fromEntries((report?.tests ?? []).map(({ title, verdict }) => [title.at(-1), verdict]));
const healedAll = Object.fromEntries(
  ['a', 'b', 'c'].flatMap((file) => [
    [`${file} adds`, 'healed'],
    [`${file} is named`, 'healed'],
    [`${file} is there`, 'passed'],
  ]),
);

/** An agent that hangs on its first start; later starts fix both causes. */
const hangsFirst = (dir: string) => `
  import { existsSync, writeFileSync } from 'node:fs';
  const started = ${JSON.stringify(path.join(dir, 'agent.started'))};
  if (!existsSync(started)) {
    writeFileSync(started, process.pid + ' ' + process.pid);
    setInterval(() => {}, 1000);
  } else await import('./fixer.mjs');`;

/** Runs the suite of a project with Playwright alone. */
async function playwright(
  { dir }: ScratchProject,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const cli = path.join(dir, 'node_modules/@playwright/test/cli.js');
  await execa(process.execPath, [cli, 'test', ...args], {
    cwd: dir,
    reject: false,
    extendEnv: false,
    env: { ...userEnv(), ...env },
  });
}

async function killedWithItsAgent(project: ScratchProject, args: readonly string[]): Promise<void> {
  await project.write({
    'hangs.mjs': hangsFirst(project.dir),
    'agents.yaml': agentsYaml(['node', 'hangs.mjs']),
  });
  const running = project.start(args);
  await agentStarted(project);
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  await ended;
}

it('SC-1 heals the tests that are red in the shards’ blob reports', async () => {
  const { machine } = await repositoryOf({
    ...suiteOfShards,
    // The second test needs the first, and the third does not run if the second fails; no report says so.
    'tests/c.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { total } from '../cart.mjs';
      test.describe.configure({ mode: 'serial' });
      let before = 0;
      test('c is there', () => { before = 1; });
      test('c adds', () => { expect(total() + before).toBe(2); });
      test('c is named', () => {});`,
  });
  const reports = tempDir('reports');
  for (const n of [1, 2]) {
    const env = { PLAYWRIGHT_BLOB_OUTPUT_DIR: path.join(reports, String(n)) };
    await playwright(await machine(`shard ${n}`), [`--shard=${n}/2`, '--reporter=blob'], env);
  }
  const heal = await machine('heal');

  const [one = ''] = readdirSync(path.join(reports, '1'));
  const torn = tempDir('torn');
  copyFileSync(path.join(reports, '1', one), path.join(torn, one));
  const missing = await heal.selfHeal(['heal', '--from', torn]);
  expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining('Shard 2 of 2 is missing')]);
  expect(existsSync(path.join(heal.dir, '.self-heal'))).toBe(false);
  const others = await heal.selfHeal(['heal', '--from', reports, '-g', 'there']);
  expect([others.exitCode, others.stderr]).toEqual([2, expect.stringContaining('b adds')]);

  if (isLong) {
    const part = ['heal', '--from', path.join(reports, '1'), '--allow-missing-shards', '--dry-run'];
    const shown = await heal.selfHeal(part);
    expect([shown.exitCode, shown.report?.shards]).toEqual([1, { total: 2, missing: [2] }]);
    expect(shown.report?.tests.length).toBeLessThan(9);
  }
  const args = ['heal', '--from', reports, '--verify', 'quick'];
  if (isLong) await killedWithItsAgent(heal, args);
  const { exitCode, report, events } = await heal.selfHeal(args);
  const runs = events.flatMap((one) => (one.type === 'suite.started' ? one.purpose : []));
  expect(runs.slice(0, 2)).toEqual(['first', 'confirm']);
  expect(verdicts(report)).toEqual({ ...healedAll, 'c is named': 'passed' });
  expect(report?.shards).toEqual({ total: 2, missing: [] });
  // The evidence was made here.
  expect(report?.causes.map(({ source }) => source)).toContain('cart.mjs:3:24');
  expect(exitCode).toBe(0);
  expect(await heal.read('shop.mjs')).toContain('Thanks');
});

it.runIf(isLong)(
  'SC-1 HL-7 exits with 0 once all tests are green, and runs those that a broken suite did not reach',
  async () => {
    const project = await scratchProject({
      ...suiteOfShards,
      'cart.mjs': 'export const total = () => (process.env.LATE ? 2 : 1);\n',
      'shop.mjs': "export const name = 'Thanks';\n",
      'seed.mjs': "export default () => { if (process.env.BROKEN) throw new Error('no database'); };\n",
      'playwright.config.ts': (suiteOfShards['playwright.config.ts'] ?? '').replace(
        "testDir: 'tests'",
        "testDir: 'tests', globalSetup: './seed.mjs'",
      ),
    });
    const healed = async (env: Record<string, string>, selection: readonly string[] = []) => {
      const PLAYWRIGHT_JSON_OUTPUT_NAME = path.join(project.dir, 'report.json');
      await playwright(project, ['--reporter=json', ...selection], { PLAYWRIGHT_JSON_OUTPUT_NAME, ...env });
      const { exitCode, report } = await project.selfHeal(['heal', '--from', 'report.json', ...selection]);
      return [exitCode, report?.totals];
    };
    expect(await healed({}, ['-g', 'there'])).toMatchObject([0, { tests: 3, passed: 3 }]);
    expect(existsSync(path.join(project.dir, '.self-heal', 'ledger.db'))).toBe(false);
    expect(await healed({ LATE: '1' })).toMatchObject([0, { tests: 9, passed: 6, flaky: 3, agentRuns: 0 }]);
    expect(await healed({ BROKEN: '1' })).toMatchObject([0, { tests: 9, passed: 9 }]);
  },
);

it('SC-4 HN-3 HN-4 judges a fix from another machine, no matter which agent its artifact names', async () => {
  const spec = 'tests/a.spec.ts';
  const red = `import { test, expect } from '@playwright/test';
import { name } from '../gone.mjs';
test('is named', () => { expect(name).toBe('Thanks'); });
`;
  const { 'tests/b.spec.ts': _, 'tests/c.spec.ts': __, ...shared } = suiteOfShards;
  const { machine } = await repositoryOf({ ...shared, [spec]: red });
  const project = await machine('forged');
  await playwright(project, ['--reporter=json'], { PLAYWRIGHT_JSON_OUTPUT_NAME: 'test-results/red.json' });
  const config = await project.read('playwright.config.ts');
  const emptied = red.replace("import { name } from '../gone.mjs';\n", '').replace(/\{ expect.*\}/, '{}');
  const forged = tempDir('forged');
  const weaker = patchOf(spec, red, emptied);
  const retried = patchOf('playwright.config.ts', config, config.replace('workers: 1', 'retries: 9'));
  for (const [n, patch] of [weaker, weaker + retried].entries()) {
    const attempts = [aReportAttempt({ agent: 'built-in', slashCommand: null, runner: 'built-in' })];
    const causes = [aReportCause({ category: 'build-error', tests: [], attempts })];
    const dir = leaveRun(path.join(forged, String(n)), aReport({ runId: `20260101-000000-000${n}`, causes }));
    writeFileSync(path.join(dir, 'fix.patch'), patch);
  }
  const healed = await project.selfHeal([
    'heal',
    '--from',
    'test-results/red.json',
    '--patches',
    forged,
    '--verify',
    'quick',
  ]);
  expect(healed.report?.causes).toMatchObject([{ category: 'build-error', verdict: 'escalated' }]);
  expect(healed.exitCode).toBe(3);
  expect([await project.read(spec), await project.read('playwright.config.ts')]).toEqual([red, config]);
});

/** A patch that replaces the whole of a file. */
function patchOf(file: string, before: string, after: string): string {
  const lines = (text: string, sign: string) => text.replaceAll(/^(?=.|\n)/gm, sign);
  const count = (text: string) => text.split('\n').length - 1;
  const ids = [before, after].map((text) => computeBlobId(Buffer.from(text))).join('..');
  return `diff --git a/${file} b/${file}\nindex ${ids} 100644\n--- a/${file}\n+++ b/${file}\n@@ -1,${count(before)} +1,${count(after)} @@\n${lines(before, '-')}${lines(after, '+')}`;
}
