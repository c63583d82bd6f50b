import type { AgentProgram } from '../agents/programs.js';
import {
  agentInstalls,
  type CiProject,
  collectCommand,
  healCommand,
  type Machines,
  runsFolderOf,
  storeVariable,
  whatHappens,
  workerCommand,
} from './ci-project.js';
import {
  command,
  installBrowsers,
  keepRuns,
  runs,
  setUp,
  type Steps,
  upTo,
  yamlText,
} from './github-steps.js';

/**
 * Renders a GitHub Actions workflow that gives the agent no token for the repository: the job's token is read-only, the checkout does not
 * persist it, and no step passes it on. Fixes are an artifact for a person to apply, and a healed run stays red until then.
 */
export function githubWorkflow(
  project: CiProject,
  agent: AgentProgram | null,
  machines: Machines | null,
): string {
  const keys = agent
    ? 'The agent gets its own key and nothing else: no write token.'
    : needsNothing(machines);
  return `# Runs the end-to-end tests. A failure is ${whatHappens(agent)}; the fix is kept as an artifact (self-heal.patch), and the
# job fails until a person has applied it. ${keys}
${machines?.workers ? storeNote : ''}name: self-heal

on:
  pull_request:
  workflow_dispatch:

permissions:
  contents: read

jobs:
${guardJob(project)}
${machines ? `${shardJob(project, machines)}\n` : ''}${machines?.workers ? `${workerJob(project, agent, machines.workers)}\n` : ''}${healJob(project, agent, machines)}`;
}

function needsNothing(machines: Machines | null): string {
  return machines?.workers ? 'No agent key is needed.' : 'No key or token is needed.';
}

const storeNote = `# The workers and the job self-heal share a PostgreSQL database, whose URL (postgres://…) is in the secret ${storeVariable}. A service
# container does not work, since other jobs cannot reach it.
`;

const isOwn =
  "github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository";

/** Renders a job: the parts that all jobs share, then its steps. */
function job(name: string, { folder }: CiProject, { head, minutes, steps }: Job): string {
  return `  ${name}:
${head}    runs-on: ubuntu-latest
    timeout-minutes: ${minutes}
    defaults:
      run:
        working-directory: ${yamlText(folder)}
    steps:
${steps.join('')}`;
}

interface Job {
  /** When it runs, and its matrix. */
  readonly head: string;
  readonly minutes: number;
  readonly steps: readonly Steps[];
}

/** The job that makes the fix or, with workers, joins their fixes. */
function healJob(project: CiProject, agent: AgentProgram | null, machines: Machines | null): string {
  const agentHere = machines?.workers ? null : agent;
  const name = machines ? 'Fix the failures of the shards' : 'Run the tests and fix failures';
  return job('self-heal', project, {
    head: `${machines ? '    needs: shard\n' : ''}    # A pull request from a fork gets no secrets, and so no agent.${machines ? ' This job also runs if shards failed.' : ''}
    if: ${machines ? `\${{ !cancelled() && (${isOwn}) }}` : isOwn}
`,
    minutes: 90,
    steps: [
      setUp(project),
      installBrowsers(project),
      ...agentInstalls(agentHere).map(runs),
      ...(machines ? [download] : []),
      command(name, healCommand(project, machines, '$RUNNER_TEMP/shards'), [
        ...keyOf(agentHere),
        ...(machines?.workers ? [storeVariable] : []),
      ]),
      keepFix(runsFolderOf(project)),
    ],
  });
}

/** A matrix job in which each machine runs a part of the tests; it starts no agent. */
function shardJob(project: CiProject, { shards }: Machines): string {
  return job('shard', project, {
    head: `    # Fails if a test fails. The job self-heal decides whether the suite passes in the end.
    strategy:
      fail-fast: false
      matrix:
        shard: ${upTo(shards)}
`,
    minutes: 60,
    steps: [
      setUp(project),
      installBrowsers(project),
      command(
        'Run this shard and collect failures',
        collectCommand(project, `\${{ matrix.shard }}/${shards}`),
      ),
      keepRuns(project, 'self-heal-shard-${{ matrix.shard }}'),
    ],
  });
}

/** A matrix job in which each machine heals causes that the job self-heal sends. It only runs if a shard failed. */
function workerJob(project: CiProject, agent: AgentProgram | null, workers: number): string {
  return job('worker', project, {
    head: `    needs: shard
    if: \${{ !cancelled() && needs.shard.result == 'failure' && (${isOwn}) }}
    strategy:
      fail-fast: false
      matrix:
        worker: ${upTo(workers)}
`,
    minutes: 90,
    steps: [
      setUp(project),
      installBrowsers(project),
      ...agentInstalls(agent).map(runs),
      command('Heal causes from the job self-heal', workerCommand(project), [...keyOf(agent), storeVariable]),
      keepRuns(project, 'self-heal-worker-${{ matrix.worker }}'),
    ],
  });
}

/** A job that checks pull requests with the guard; it starts no agent. */
function guardJob(project: CiProject): string {
  const { manager, configFlag } = project;
  return job('guard', project, {
    head: `    # Reports changes that weaken the tests, whoever wrote the pull request. Runs no tests and needs no secrets.
    if: github.event_name == 'pull_request'
`,
    minutes: 10,
    steps: [setUp(project), runs(`${manager.exec} self-heal guard${configFlag}`)],
  });
}

function keyOf(agent: AgentProgram | null): string[] {
  return agent ? [agent.keyVariable] : [];
}

const download: Steps = `      - uses: actions/download-artifact@v4
        with:
          pattern: self-heal-shard-*
          path: \${{ runner.temp }}/shards
`;

function keepFix(runs: string): Steps {
  return `      - name: Keep the changes
        if: \${{ !cancelled() }}
        run: git add --intent-to-add --all :/ && git diff --binary > "$RUNNER_TEMP/self-heal.patch"
      - uses: actions/upload-artifact@v4
        if: \${{ !cancelled() }}
        with:
          name: self-heal
          path: |
            \${{ runner.temp }}/self-heal.patch
            ${runs}
          include-hidden-files: true
          if-no-files-found: ignore
`;
}
