import { cpSync, existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { programs } from '../rig/programs.js';
import { scratchProject, type ScratchProject, userEnv } from '../rig/scratch-project.js';
import { repositoryOf, suiteOfShards } from '../rig/shards.js';
import { tempDir } from '../rig/temp-dir.js';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly env?: Secrets;
  readonly with?: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { needs?: string; strategy?: Matrix; steps: readonly Step[] }>>;
}

interface Matrix {
  readonly matrix: Readonly<Record<string, readonly number[]>>;
}

const bin = path.resolve(import.meta.dirname, '../../bin/self-heal.js');

type Secrets = Readonly<Record<string, string>>;

/** Runs the steps of a job in order, as a runner does: after a failed one, only those with `!cancelled()`. Artifacts are folders. */
async function runJob(
  { dir }: ScratchProject,
  steps: readonly Step[],
  { artifacts, shard = 0, secrets = {} }: { artifacts: string; shard?: number; secrets?: Secrets },
): Promise<boolean> {
  const temp = tempDir('runner');
  const shims = programs({ npm: '', npx: `[ "$1" = self-heal ] || exit 0; shift; exec node '${bin}' "$@"` });
  const env = { ...userEnv(), PATH: `${shims}:${process.env['PATH']}`, RUNNER_TEMP: temp, CI: 'true' };
  const expanded = (text = '') =>
    text.replaceAll(/\$\{\{ matrix\.\w+ \}\}/g, String(shard)).replaceAll('${{ runner.temp }}', temp);
  let isRed = false;
  for (const step of steps) {
    if (isRed && !step.if?.includes('!cancelled()')) continue;
    if (step.run !== undefined) {
      const { exitCode } = await execa('bash', ['-e', '-c', expanded(step.run)], {
        cwd: dir,
        env: {
          ...env,
          ...Object.fromEntries(Object.keys(step.env ?? {}).map((name) => [name, secrets[name]])),
        },
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

/** The jobs of the workflow that `init` writes, and machines at the commit that contains it. */
async function written(...flags: string[]) {
  const origin = await scratchProject(suiteOfShards);
  await execa('git', ['init', '-q'], { cwd: origin.dir });
  const init = await origin.selfHeal([
    'init',
    '--ci',
    'github',
    '--shards',
    '2',
    '--agent',
    'claude',
    ...flags,
  ]);
  expect(init.exitCode).toBe(0);
  const text = await origin.read('.github/workflows/self-heal.yml');
  const { jobs } = parse(text) as Workflow;
  const { machine } = await repositoryOf({ ...suiteOfShards, '.github/workflows/self-heal.yml': text });
  return { jobs, machine };
}

type Written = Awaited<ReturnType<typeof written>>;

/** Runs the shards, which are red, and returns the folder of their artifacts. */
async function collected({ jobs, machine }: Written): Promise<string> {
  const artifacts = tempDir('artifacts');
  const { shard: job } = jobs;
  for (const shard of job?.strategy?.matrix['shard'] ?? []) {
    const isGreen = await runJob(await machine('shard'), job?.steps ?? [], { artifacts, shard });
    expect(isGreen).toBe(false);
    expect(existsSync(path.join(artifacts, `self-heal-shard-${shard}`))).toBe(true);
  }
  return artifacts;
}

async function expectHealed({ machine }: Written, heal: ScratchProject, artifacts: string): Promise<void> {
  const { totals, outcome } = JSON.parse(await heal.read('.self-heal/latest/report.json')) as {
    totals: object;
    outcome: string;
  };
  expect({ outcome, totals }).toMatchObject({ outcome: 'green', totals: { tests: 9, healed: 6, passed: 3 } });

  const patch = readFileSync(path.join(artifacts, 'self-heal', 'self-heal.patch'), 'utf8');
  const fresh = await machine('fresh');
  await writeFile(path.join(fresh.dir, '..', 'fix.patch'), patch);
  await execa('git', ['apply', '../fix.patch'], { cwd: fresh.dir });
  expect(await fresh.read('shop.mjs')).toContain('Thanks');
}

it('SC-1 CL-10 the workflow that init writes heals what its shards collected', async () => {
  const workflow = await written();
  const { jobs, machine } = workflow;
  expect(jobs['self-heal']?.needs).toBe('shard');
  const artifacts = await collected(workflow);
  const heal = await machine('heal');
  // A healed run is red until somebody has applied the fix.
  expect(await runJob(heal, jobs['self-heal']?.steps ?? [], { artifacts })).toBe(false);
  await expectHealed(workflow, heal, artifacts);
});
