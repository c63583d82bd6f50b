import type { AgentProgram } from '../agents/programs.js';
import { type CiProject, runsFolderOf, whatHappens } from './ci-project.js';
import { yamlText } from './github-workflow.js';

/** What GitLab puts into every job, and what reads or writes more than this job needs. */
const withheld = [
  'CI_JOB_TOKEN',
  'CI_REPOSITORY_URL',
  'CI_REGISTRY_PASSWORD',
  'CI_DEPENDENCY_PROXY_PASSWORD',
  'CI_DEPLOY_PASSWORD',
];

/** A GitLab CI job to include; the job's tokens are taken out of the environment and of git's configuration before agents run. */
export function gitlabWorkflow(
  project: CiProject,
  agent: AgentProgram | null,
  shards: number | null,
): string {
  const { manager, configFlag } = project;
  const runs = runsFolderOf(project);
  const heal = shards === null ? 'self-heal run' : 'self-heal heal --from "$SHARDS"';
  const what = whatHappens(agent);
  const script = [
    ...setUp(project),
    // Keeps the other machines' runs apart from this machine's own.
    ...(shards === null ? [] : ['SHARDS="$(mktemp -d)" && mv .self-heal/runs/* "$SHARDS"']),
    ...(agent ? [`npm install --global ${agent.packageName}`] : []),
    // The address holds a token; its branches stay, since blame begins where this one left them.
    'git config --remove-section remote.origin || true',
    `env ${withheld.map((name) => `-u ${name}`).join(' ')} ${manager.exec} ${heal} --fail-on-heal${configFlag}`,
  ];
  // Also where a shard is red.
  const always = shards === null ? '' : '      when: always\n';
  return `# Include this in .gitlab-ci.yml:
#   include:
#     - local: .gitlab/self-heal.gitlab-ci.yml
#
# Runs the end-to-end tests. What fails is ${what}; the fix is kept as an artifact (self-heal.patch), and the
# job stays red until a person has applied it.${agent ? ` ${agent.keyVariable} must be a masked variable of the project.` : ''}
${shards === null ? '' : shardJob(project, { shards, runs })}self-heal:
${shards === null ? '' : '  needs: [self-heal-shard]\n'}  image: node:22-bookworm
  timeout: 90 minutes
  variables:
    # All of the history: what broke a test is looked for since the branch began.
    GIT_DEPTH: "0"
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
${always}    - if: $CI_PIPELINE_SOURCE == "web"
${always}  script:
${script.map((line) => `    - ${JSON.stringify(line)}`).join('\n')}
  after_script:
    - cd "$CI_PROJECT_DIR" && git add --intent-to-add --all :/ && git diff --binary > self-heal.patch
  artifacts:
    when: always
    paths:
      - self-heal.patch
      - ${yamlText(runs)}
`;
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

/** A job for each machine that runs a part of the tests; it starts no agent. */
function shardJob(project: CiProject, { shards, runs }: { shards: number; runs: string }): string {
  const { manager, configFlag } = project;
  const collect = `${manager.exec} self-heal run --collect --shard "$CI_NODE_INDEX/$CI_NODE_TOTAL"${configFlag}`;
  return `# Red where a test fails; whether the suite is green in the end is for the job self-heal to say.
self-heal-shard:
  parallel: ${shards}
  image: node:22-bookworm
  timeout: 60 minutes
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_PIPELINE_SOURCE == "web"
  script:
${[...setUp(project), collect].map((line) => `    - ${JSON.stringify(line)}`).join('\n')}
  artifacts:
    when: always
    paths:
      - ${yamlText(runs)}

`;
}

function shellPath(home: string, folder: string): string {
  return folder === '.' ? `"${home}"` : `"${home}/${folder.replaceAll(/["\\$`]/g, '\\$&')}"`;
}
