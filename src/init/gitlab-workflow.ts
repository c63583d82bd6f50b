import type { AgentProgram } from '../agents/programs.js';
import {
  agentInstalls,
  type CiProject,
  healCommand,
  runsFolderOf,
  shardCommand,
  whatHappens,
} from './ci-project.js';
import { type CommentedJob, jobsYaml } from './jobs-yaml.js';

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
  shards: number | null,
): string {
  const jobs = [...(shards === null ? [] : [shardJob(project, shards)]), healJob(project, agent, shards)];
  return `# Include this in .gitlab-ci.yml:
#   include:
#     - local: .gitlab/self-heal.gitlab-ci.yml
#
# Runs the end-to-end tests. A failure is ${whatHappens(agent)}; the fix is kept as an artifact (self-heal.patch), and the
# job fails until a person has applied it.${agent ? ` ${agent.keyVariable} must be a masked variable of the project.` : ''}

${jobsYaml(jobs)}`;
}

function healJob(project: CiProject, agent: AgentProgram | null, shards: number | null): CommentedJob {
  const script = [
    // Out of the checkout, so that they do not become part of the fix.
    ...(shards === null ? [] : ['REPORTS="$(mktemp -d)" && mv "$CI_PROJECT_DIR"/blob-report/* "$REPORTS"']),
    ...agentInstalls(agent),
    ...withoutTokens(healCommand(project, shards, '$REPORTS')),
  ];
  const keep = 'git add --intent-to-add --all :/ && git diff --binary > self-heal.patch';
  return [
    'Full history (GIT_DEPTH): the search for what broke a test goes back to the start of the branch.',
    {
      'self-heal': {
        ...(shards === null ? {} : { needs: ['self-heal-shard'] }),
        variables: { GIT_DEPTH: '0' },
        ...job(project, { minutes: 90, when: shards === null ? null : 'always', script }),
        after_script: [`cd "$CI_PROJECT_DIR" && ${keep}`],
        artifacts: { when: 'always', paths: ['self-heal.patch', runsFolderOf(project)] },
      },
    },
  ];
}

/** Parallel jobs, each of which runs a part of the tests; they start no agent. */
function shardJob(project: CiProject, shards: number): CommentedJob {
  const script = [shardCommand(project, '"$CI_NODE_INDEX/$CI_NODE_TOTAL"')];
  return [
    'Fails if a test fails. The job self-heal decides whether the suite passes in the end.',
    {
      'self-heal-shard': {
        parallel: shards,
        variables: { PLAYWRIGHT_BLOB_OUTPUT_DIR: '$CI_PROJECT_DIR/blob-report' },
        ...job(project, { minutes: 60, when: null, script }),
        artifacts: { when: 'always', paths: ['blob-report/'] },
      },
    },
  ];
}

interface Job {
  readonly minutes: number;
  /** Lets it run although earlier jobs failed. */
  readonly when: 'always' | null;
  /** What it does after setting up the project. */
  readonly script: readonly string[];
}

function job(project: CiProject, { minutes, when, script }: Job): object {
  const rules = ['merge_request_event', 'web'].map((source) => ({
    if: `$CI_PIPELINE_SOURCE == "${source}"`,
    ...(when === null ? {} : { when }),
  }));
  return {
    image: 'node:22-bookworm',
    timeout: `${minutes} minutes`,
    rules,
    script: [...setUp(project), ...script],
  };
}

function withoutTokens(command: string): string[] {
  return [
    // The remote's URL contains a token. Its branches are kept, because blame starts from where this branch left them.
    'git config --remove-section remote.origin || true',
    `env ${withheld.map((name) => `-u ${name}`).join(' ')} ${command}`,
  ];
}

function setUp({ before, installFolder, install, folder, manager }: CiProject): string[] {
  return [
    ...(before === null ? [] : [before]),
    `cd ${shellPath(installFolder)}`,
    install,
    `cd ${shellPath(folder)}`,
    `${manager.exec} playwright install --with-deps`,
  ];
}

function shellPath(folder: string): string {
  const home = '$CI_PROJECT_DIR';
  return folder === '.' ? `"${home}"` : `"${home}/${folder.replaceAll(/["\\$`]/g, '\\$&')}"`;
}
