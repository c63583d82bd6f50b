import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { programs } from '../rig/programs.js';
import { type ScratchProject, userEnv } from '../rig/scratch-project.js';
import { repositoryOf, suiteOfShards } from '../rig/shards.js';
import { tempDir } from '../rig/temp-dir.js';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}

interface Job {
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly number[]>> };
  readonly steps: readonly Step[];
}

const bin = path.resolve(import.meta.dirname, '../../bin/self-heal.js');
const npx = `case "$1 $2" in
  'playwright test') shift; exec node node_modules/@playwright/test/cli.js "$@";;
  self-heal*) shift; exec node '${bin}' "$@";;
esac`;

/** Runs the steps of a job in order, as a runner does: after a failed one, only those with `!cancelled()`. Artifacts are folders. */
async function runJob(
  { dir }: ScratchProject,
  { steps }: Job,
  { artifacts, shard = 0 }: { artifacts: string; shard?: number },
): Promise<boolean> {
  const temp = tempDir('runner');
  const shims = programs({ npm: '', npx });
  const env = { ...userEnv(), PATH: `${shims}:${process.env['PATH']}`, RUNNER_TEMP: temp, CI: 'true' };
  const expanded = (text = '') =>
    text
      .replaceAll(/\$\{\{ matrix\.\w+ \}\}/g, String(shard))
      .replaceAll('${{ runner.temp }}', temp)
      // The secret is there.
      .replaceAll(/\$\{\{ !secrets\..*?\}\}/g, '');
  let isRed = false;
  for (const step of steps) {
    if (isRed && !step.if?.includes('!cancelled()')) continue;
    if (step.run !== undefined) {
      const own = Object.entries(step.env ?? {}).map(([name, value]) => [name, expanded(value)] as const);
      const { exitCode } = await execa('bash', ['-e', '-c', expanded(step.run)], {
        cwd: dir,
        env: { ...env, ...Object.fromEntries(own) },
        extendEnv: false,
        reject: false,
      });
      isRed ||= exitCode !== 0;
    } else if (step.uses?.startsWith('actions/upload-artifact')) {
      for (const place of expanded(step.with?.['path']).trim().split('\n')) {
        const from = path.resolve(dir, place);
        const to = path.join(
          artifacts,
          expanded(step.with?.['name']),
          path.extname(from) ? path.basename(from) : '',
        );
        if (existsSync(from)) cpSync(from, to, { recursive: true });
      }
    } else if (step.uses?.startsWith('actions/download-artifact')) {
      cpSync(artifacts, expanded(step.with?.['path']), { recursive: true });
    }
  }
  return !isRed;
}

it('SC-1 the workflow docs/ci/github-shards.yml heals the tests that are red in its shards', async () => {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/ci/github-shards.yml'), 'utf8');
  const { jobs } = parse(text) as { jobs: Record<'shard' | 'self-heal', Job> };
  const { machine } = await repositoryOf({ ...suiteOfShards, '.github/workflows/self-heal.yml': text });
  const artifacts = tempDir('artifacts');
  const greens: boolean[] = [];
  for (const shard of jobs.shard.strategy?.matrix['shard'] ?? [])
    greens.push(await runJob(await machine('shard'), jobs.shard, { artifacts, shard }));
  expect(greens).toHaveLength(4);
  expect(greens).toContain(false);

  const heal = await machine('heal');
  // A healed run is red until somebody has applied the fix.
  expect(await runJob(heal, jobs['self-heal'], { artifacts })).toBe(false);
  expect(JSON.parse(await heal.read('.self-heal/latest/report.json'))).toMatchObject({
    outcome: 'green',
    totals: { tests: 9, healed: 6, passed: 3 },
  });
  const fresh = await machine('fresh');
  const [run = ''] = readdirSync(path.join(artifacts, 'self-heal'));
  const patch = readFileSync(path.join(artifacts, 'self-heal', run, 'fix.patch'), 'utf8');
  await writeFile(path.join(fresh.dir, '..', 'fix.patch'), patch);
  await execa('git', ['apply', '../fix.patch'], { cwd: fresh.dir });
  expect(await fresh.read('shop.mjs')).toContain('Thanks');
});
