import { cpSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import type { createMatrix } from '../../src/outputs/matrix.js';
import { agentsYaml, type ScratchProject, userEnv } from '../rig/scratch-project.js';
import { repositoryOf } from '../rig/shards.js';
import { tempDir } from '../rig/temp-dir.js';

/** As many causes as this, each in a file of its own; the last two are repaired in the same line of a shared file. */
const CAUSES = 20;
const numbers = Array.from({ length: CAUSES }, (_, at) => at + 1);

const suite: Record<string, string> = {
  'package.json': '{ "name": "scratch", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n.self-heal\nblob-report\n',
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 2, fullyParallel: true, reporter: [['list']] });`,
  'shared.mjs': `export const words = { w${CAUSES - 1}: 'broken', w${CAUSES}: 'broken' };\n`,
  ...Object.fromEntries(
    numbers.flatMap((n) => [
      [
        `src${n}.mjs`,
        `import { words } from './shared.mjs';\nexport const word = words.w${n} ?? 'broken';\n`,
      ],
      [
        `tests/t${n}.spec.ts`,
        `import { test, expect } from '@playwright/test';
        import { word } from '../src${n}.mjs';
        test('says ${n}', () => { expect(word, 'word ${'abcdefghijklmnopqrst'[n - 1]}').toBe('right ${n}'); });
        test('is there ${n}', () => {});`,
      ],
    ]),
  ),
  // It repairs the one whose prompt it gets.
  'fixer.mjs': `
    import { readFileSync, writeFileSync } from 'node:fs';
    const n = /right (\\d+)/.exec(readFileSync(0, 'utf8'))?.[1];
    const file = n > ${CAUSES - 2} ? 'shared.mjs' : 'src' + n + '.mjs';
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, n > ${CAUSES - 2} ? text.replace("w" + n + ": 'broken'", "w" + n + ": 'right " + n + "'") : text.replace("'broken'", "'right " + n + "'"));
    console.log('SELF-HEAL: ' + JSON.stringify({ status: 'fixed', summary: 'edited' }));`,
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

it('SC-4 a CI matrix’s patches give the same report as one machine, without an agent', async () => {
  const { machine } = await repositoryOf(suite);
  const reports = tempDir('reports');
  const shard = await machine('shard');
  await playwright(shard, { PLAYWRIGHT_BLOB_OUTPUT_DIR: path.join(reports, 'blob') });

  const first = await machine('list');
  const listed = await first.selfHeal(['heal', '--from', reports, '--list']);
  expect(listed.exitCode).toBe(0);
  const { include } = JSON.parse(listed.stdout) as ReturnType<typeof createMatrix>;
  expect(include).toHaveLength(CAUSES);

  const artifacts = tempDir('artifacts');
  for (const [at, { cause }] of include.entries()) {
    const job = await machine(`job${at}`);
    const { exitCode, report } = await job.selfHeal(['heal', '--from', reports, '--cause', cause]);
    expect({ exitCode, healed: report?.totals.healed, agentRuns: report?.totals.agentRuns }).toEqual({
      exitCode: 0,
      healed: 1,
      agentRuns: 1,
    });
    cpSync(path.join(job.dir, '.self-heal/runs'), path.join(artifacts, `self-heal-${at}`), {
      recursive: true,
    });
  }

  const last = await machine('last');
  const all = await last.selfHeal(['heal', '--from', reports, '--patches', artifacts]);
  expect(all.report).toMatchObject({ totals: { agentRuns: 0 } });
  // The last two change the same line: one of them is taken, and the other named.
  expect(all.report?.totals.healed).toBe(CAUSES - 1);
  expect(all.exitCode).toBe(1);
  expect(all.report?.causes.find(({ verdict }) => verdict === 'failed')).toMatchObject({
    reason: expect.stringContaining('no patch') as string,
  });
  expect(await last.read('shared.mjs')).toContain(": 'right ");
});

async function playwright({ dir }: ScratchProject, env: Record<string, string>): Promise<void> {
  const cli = path.join(dir, 'node_modules/@playwright/test/cli.js');
  const options = { cwd: dir, reject: false, extendEnv: false, env: { ...userEnv(), ...env } } as const;
  await execa(process.execPath, [cli, 'test', '--reporter=blob'], options);
}
