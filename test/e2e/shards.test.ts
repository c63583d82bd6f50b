import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import type { Report } from '../../src/run/report.js';
import { isLong } from '../rig/long.js';
import { agentsYaml, type ScratchProject, userEnv } from '../rig/scratch-project.js';
import { download, repositoryOf, suiteOfShards } from '../rig/shards.js';
import { tempDir } from '../rig/temp-dir.js';
import { agentStarted } from '../rig/working-agent.js';

const secret = 'sk-live-4f9a8b7c6d5e4f3a2b1c';

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

async function collectShards(total: number): Promise<{ arts: string; heal: ScratchProject }> {
  const { machine } = await repositoryOf({
    ...suiteOfShards,
    // The failure contains a secret that only the shards' machines know.
    'tests/a.spec.ts': (suiteOfShards['tests/a.spec.ts'] ?? '').replace(
      "=== 'Thanks')",
      "=== 'Thanks', process.env.SHOP_API_KEY)",
    ),
  });
  const arts = tempDir('artifacts');
  for (let n = 1; n <= total; n += 1) {
    const shard = await machine(`shard ${n}`);
    const args = ['run', '--shard', `${n}/${total}`, '--collect'];
    const { exitCode, events, report } = await shard.selfHeal(args, { SHOP_API_KEY: secret });
    expect(exitCode).toBe(1);
    expect(report).toBeNull();
    expect(events.filter(({ type }) => type === 'cause.found' || type === 'agent.started')).toEqual([]);
    expect(existsSync(path.join(shard.dir, '.self-heal', 'ledger.db'))).toBe(false);
    await download(shard, path.join(arts, `shard-${n}`));
  }
  return { arts, heal: await machine('heal') };
}

/** The text of every file below a folder. */
function textsIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.map((one) => readFileSync(path.join(one.parentPath, one.name), 'utf8')).join('\n');
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

it('SC-1 heals on one machine what shards collected on others', async () => {
  const { arts, heal } = await collectShards(2);
  expect(textsIn(arts)).not.toContain(secret);

  // Without one of the shards, heal refuses before it writes anything; with the flag, the report names the missing shard.
  const one = ['--from', path.join(arts, 'shard-1')];
  const refused = await heal.selfHeal(['heal', ...one]);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain('Shard 2 of 2 is missing');
  expect(existsSync(path.join(heal.dir, '.self-heal'))).toBe(false);
  const shown = await heal.selfHeal(['heal', ...one, '--allow-missing-shards', '--dry-run']);
  expect(shown.report?.shards).toEqual({ total: 2, missing: [2] });
  expect(shown.report?.tests.length).toBeLessThan(9);
  for (const file of ['summary.md', 'report.html'])
    expect(await heal.read(`.self-heal/latest/${file}`)).toContain('Shard 2 of 2 is missing');

  const args = ['heal', '--from', arts, '--verify', 'quick'];
  if (isLong) await killedWithItsAgent(heal, args);
  const { exitCode, report, stderr } = await heal.selfHeal(isLong ? ['resume'] : args);
  if (isLong) expect(stderr).toContain('6 tests are left, 3 already finished');
  expect(verdicts(report)).toEqual(healedAll);
  expect(report?.shards).toEqual({ total: 2, missing: [] });
  expect(exitCode).toBe(0);
  expect(await heal.read('shop.mjs')).toContain('Thanks');
});

it('SC-1 reads plain blob reports too; green ones exit with 0 and leave no store', async () => {
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
  const arts = tempDir('artifacts');
  const heal = await machine('heal');
  const runShards = async (name: string, args: readonly string[]) => {
    for (const n of [1, 2]) {
      const { dir } = await machine(`blob ${n}`);
      const cli = path.join(dir, 'node_modules/@playwright/test/cli.js');
      await execa(process.execPath, [cli, 'test', `--shard=${n}/2`, '--reporter=blob', ...args], {
        cwd: dir,
        reject: false,
        extendEnv: false,
        env: { ...userEnv(), PLAYWRIGHT_BLOB_OUTPUT_DIR: path.join(arts, name, String(n)) },
      });
    }
    return path.join(arts, name);
  };
  const green = await heal.selfHeal([
    'heal',
    '--from',
    await runShards('green', ['-g', 'there']),
    '-g',
    'there',
  ]);
  expect(green.exitCode).toBe(0);
  expect(green.report?.totals).toMatchObject({ tests: 3, passed: 3, agentRuns: 0 });
  expect(existsSync(path.join(heal.dir, '.self-heal', 'ledger.db'))).toBe(false);

  const red = await runShards('red', []);
  const { exitCode, report } = await heal.selfHeal(['heal', '--from', red, ...(isLong ? [] : ['--dry-run'])]);
  if (isLong) expect(verdicts(report)).toEqual({ ...healedAll, 'c is named': 'passed' });
  else expect(report?.causes[0]?.tests).toHaveLength(3);
  expect(exitCode).toBe(isLong ? 0 : 1);
  // The paths are those of this machine, whatever they were on the others.
  expect(report?.causes.map(({ source }) => source)).toContain('cart.mjs:3:13');
  const torn = path.join(red, '1', readdirSync(path.join(red, '1'))[0] ?? '');
  await writeFile(torn, readFileSync(torn).subarray(0, 300));
  const damaged = await heal.selfHeal(['heal', '--from', red]);
  expect(damaged.exitCode).toBe(2);
  expect(damaged.stderr).toContain(path.basename(torn));
  await rm(torn);
});
