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
import { yamlText } from './github-steps.js';

/** Variables that GitLab gives every job and that grant more access than this job needs. */
const withheld = [
  'CI_JOB_TOKEN',
  'CI_REPOSITORY_URL',
  'CI_REGISTRY_PASSWORD',
  'CI_DEPENDENCY_PROXY_PASSWORD',
  'CI_DEPLOY_PASSWORD',
];

/** Renders a GitLab CI file to include. Before agents run, it removes the job's tokens from the environment and from git's configuration. */
export function gitlabWorkflow(
  project: CiProject,
  agent: AgentProgram | null,
  machines: Machines | null,
): string {
  return `# Include this in .gitlab-ci.yml:
#   include:
#     - local: .gitlab/self-heal.gitlab-ci.yml
#
# Runs the end-to-end tests. A failure is ${whatHappens(agent)}; the fix is kept as an artifact (self-heal.patch), and the
# job fails until a person has applied it.${agent ? ` ${agent.keyVariable} must be a masked variable of the project.` : ''}
${machines?.workers ? storeNote : ''}${machines ? `${shardJob(project, machines)}\n` : ''}${machines?.workers ? `${workerJob(project, agent, machines.workers)}\n` : ''}${healJob(project, agent, machines)}`;
}

const storeNote = `# The workers and the job self-heal share a PostgreSQL database, whose URL (postgres://…) is in ${storeVariable}, a masked variable
# of the project. A service of a job does not work, since other jobs cannot reach it.
`;

function healJob(project: CiProject, agent: AgentProgram | null, machines: Machines | null): string {
  const script = [
    ...setUp(project),
    // Keeps the other machines' runs apart from those of this machine.
    ...(machines ? ['SHARDS="$(mktemp -d)" && mv .self-heal/runs/* "$SHARDS"'] : []),
    ...(machines?.workers ? [] : agentInstalls(agent)),
    ...withoutTokens(healCommand(project, machines, '$SHARDS')),
  ];
  return `self-heal:
${machines ? '  needs: [self-heal-shard]\n' : ''}  image: ${image}
  timeout: 90 minutes
  variables:
    # Full history: the search for what broke a test goes back to the start of the branch.
    GIT_DEPTH: "0"
${rules(machines ? 'always' : null)}  script:
${lines(script)}
  after_script:
    - cd "$CI_PROJECT_DIR" && git add --intent-to-add --all :/ && git diff --binary > self-heal.patch
  artifacts:
    when: always
    paths:
      - self-heal.patch
      - ${yamlText(runsFolderOf(project))}
`;
}

/** Parallel jobs, each of which runs a part of the tests; they start no agent. */
function shardJob(project: CiProject, { shards }: Machines): string {
  const collect = collectCommand(project, '"$CI_NODE_INDEX/$CI_NODE_TOTAL"');
  return `# Fails if a test fails. The job self-heal decides whether the suite passes in the end.
self-heal-shard:
  parallel: ${shards}
  image: ${image}
  timeout: 60 minutes
${rules(null)}  script:
${lines([...setUp(project), collect])}
${keepRuns(project)}`;
}

/** Parallel jobs that heal causes sent by the job self-heal. They only run if a shard failed. */
function workerJob(project: CiProject, agent: AgentProgram | null, workers: number): string {
  return `self-heal-worker:
  needs: [{ job: self-heal-shard, artifacts: false }]
  parallel: ${workers}
  image: ${image}
  timeout: 90 minutes
${rules('on_failure')}  script:
${lines([...setUp(project), ...agentInstalls(agent), ...withoutTokens(workerCommand(project))])}
${keepRuns(project)}`;
}

const image = 'node:22-bookworm';

/** Renders when a job runs; `when` lets it run although earlier jobs failed. */
function rules(when: 'always' | 'on_failure' | null): string {
  const also = when === null ? '' : `      when: ${when}\n`;
  return `  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
${also}    - if: $CI_PIPELINE_SOURCE == "web"
${also}`;
}

function lines(script: readonly string[]): string {
  return script.map((line) => `    - ${JSON.stringify(line)}`).join('\n');
}

function keepRuns(project: CiProject): string {
  return `  artifacts:
    when: always
    paths:
      - ${yamlText(runsFolderOf(project))}
`;
}

function withoutTokens(command: string): string[] {
  return [
    // The remote's URL contains a token. Its branches are kept, because blame starts from where this branch left them.
    'git config --remove-section remote.origin || true',
    `env ${withheld.map((name) => `-u ${name}`).join(' ')} ${command}`,
  ];
}

function setUp({ before, installFolder, install, folder, manager }: CiProject): string[] {
  const home = '$CI_PROJECT_DIR';
  return [
    ...(before === null ? [] : [before]),
    `cd ${shellPath(home, installFolder)}`,
    install,
    `cd ${shellPath(home, folder)}`,
    `${manager.exec} playwright install --with-deps`,
  ];
}

function shellPath(home: string, folder: string): string {
  return folder === '.' ? `"${home}"` : `"${home}/${folder.replaceAll(/["\\$`]/g, '\\$&')}"`;
}
