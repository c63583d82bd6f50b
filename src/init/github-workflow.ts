import type { AgentProgram } from '../agents/programs.js';
import {
  agentInstalls,
  type CiProject,
  healCommand,
  runsFolderOf,
  shardCommand,
  whatHappens,
} from './ci-project.js';
import { type CommentedJob, inline, jobsYaml } from './jobs-yaml.js';

/**
 * Renders a GitHub Actions workflow that gives the agent no token for the repository: the job's token is read-only, the checkout does not
 * persist it, and no step passes it on. Fixes are an artifact for a person to apply, and a healed run stays red until then.
 */
export function githubWorkflow(
  project: CiProject,
  agent: AgentProgram | null,
  shards: number | null,
): string {
  const jobs = [
    guardJob(project),
    ...(shards === null ? [] : [shardJob(project, shards)]),
    healJob(project, agent, shards),
  ];
  return `# Runs the end-to-end tests. A failure is ${whatHappens(agent)}; the fix is kept as an artifact (self-heal.patch), and the
# job fails until a person has applied it. ${agent ? 'The agent gets its own key and nothing else: no write token.' : 'No key or token is needed.'}
name: self-heal

on:
  pull_request:
  workflow_dispatch:

permissions:
  contents: read

jobs:
${jobsYaml(jobs).replaceAll(/^(?=.)/gm, '  ')}`;
}

const isOwn =
  "github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository";
const evenIfRed = '${{ !cancelled() }}';

/** The parts that all jobs share. */
function job(
  { folder, install, before, installFolder }: CiProject,
  minutes: number,
  steps: readonly object[],
): object {
  return {
    'runs-on': 'ubuntu-latest',
    'timeout-minutes': minutes,
    defaults: { run: { 'working-directory': folder } },
    steps: [
      // Guard and blame need the history.
      { uses: 'actions/checkout@v4', with: { 'persist-credentials': false, 'fetch-depth': 0 } },
      { uses: 'actions/setup-node@v4', with: { 'node-version': 22 } },
      ...(before === null ? [] : [{ run: before }]),
      { run: install, 'working-directory': installFolder },
      ...steps,
    ],
  };
}

/** The job that makes the fix. */
function healJob(project: CiProject, agent: AgentProgram | null, shards: number | null): CommentedJob {
  const steps = [
    installBrowsers(project),
    ...agentInstalls(agent).map((run) => ({ run })),
    ...(shards === null
      ? []
      : [
          {
            uses: 'actions/download-artifact@v4',
            with: { pattern: 'blob-report-*', path: '${{ runner.temp }}/reports' },
          },
        ]),
    {
      name: shards === null ? 'Run the tests and fix failures' : 'Fix the failures of the shards',
      run: healCommand(project, shards, '$RUNNER_TEMP/reports'),
      ...secrets(keyOf(agent)),
    },
    {
      name: 'Keep the changes',
      if: evenIfRed,
      run: 'git add --intent-to-add --all :/ && git diff --binary > "$RUNNER_TEMP/self-heal.patch"',
    },
    upload('self-heal', `\${{ runner.temp }}/self-heal.patch\n${runsFolderOf(project)}\n`),
  ];
  return [
    `A pull request from a fork gets no secrets, and so no agent.${shards === null ? '' : ' This job also runs if shards failed.'}`,
    {
      'self-heal': {
        ...(shards === null ? {} : { needs: 'shard' }),
        if: shards === null ? isOwn : `\${{ !cancelled() && (${isOwn}) }}`,
        ...job(project, 90, steps),
      },
    },
  ];
}

/** A matrix job in which each machine runs a part of the tests; it starts no agent. */
function shardJob(project: CiProject, shards: number): CommentedJob {
  const steps = [
    installBrowsers(project),
    {
      name: 'Run this shard',
      run: shardCommand(project, `\${{ matrix.shard }}/${shards}`),
      env: { PLAYWRIGHT_BLOB_OUTPUT_DIR: '${{ runner.temp }}/blob-report' },
    },
    upload('blob-report-${{ matrix.shard }}', '${{ runner.temp }}/blob-report', { overwrite: true }),
  ];
  return [
    'Fails if a test fails. The job self-heal decides whether the suite passes in the end.',
    { shard: { strategy: matrix('shard', shards), ...job(project, 60, steps) } },
  ];
}

/** A job that checks pull requests with the guard; it starts no agent. */
function guardJob(project: CiProject): CommentedJob {
  const run = `${project.manager.exec} self-heal guard${project.configFlag}`;
  return [
    'Reports changes that weaken the tests, whoever wrote the pull request. Runs no tests and needs no secrets.',
    { guard: { if: "github.event_name == 'pull_request'", ...job(project, 10, [{ run }]) } },
  ];
}

function keyOf(agent: AgentProgram | null): string[] {
  return agent ? [agent.keyVariable] : [];
}

function secrets(names: readonly string[]): { env?: Record<string, string> } {
  const env = names.map((name) => [name, `\${{ secrets.${name} }}`] as const);
  return env.length === 0 ? {} : { env: Object.fromEntries(env) };
}

function installBrowsers({ manager }: CiProject): object {
  return { run: `${manager.exec} playwright install --with-deps` };
}

function matrix(name: string, count: number): object {
  const numbers = inline(Array.from({ length: count }, (_, at) => at + 1));
  return { 'fail-fast': false, matrix: { [name]: numbers } };
}

function upload(name: string, path: string, more: object = {}): object {
  const how = { 'include-hidden-files': true, 'if-no-files-found': 'ignore', ...more };
  return { uses: 'actions/upload-artifact@v4', if: evenIfRed, with: { name, path, ...how } };
}
