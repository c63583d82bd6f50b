import type { AgentProgram } from '../agents/programs.js';
import type { CiProject } from './ci-project.js';
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
export function gitlabWorkflow(project: CiProject, agent: AgentProgram | null): string {
  const { manager, install, before, folder, installFolder, configFlag } = project;
  const home = '$CI_PROJECT_DIR';
  const who = agent ? `handed to ${agent.title}` : 'healed where the built-in fixer is sure of it';
  const script = [
    ...(before === null ? [] : [before]),
    `cd ${shellPath(home, installFolder)}`,
    install,
    `cd ${shellPath(home, folder)}`,
    `${manager.exec} playwright install --with-deps`,
    ...(agent ? [`npm install --global ${agent.packageName}`] : []),
    'git remote remove origin || true',
    `env ${withheld.map((name) => `-u ${name}`).join(' ')} ${manager.exec} self-heal run --fail-on-heal${configFlag}`,
  ];
  return `# Include this in .gitlab-ci.yml:
#   include:
#     - local: .gitlab/self-heal.gitlab-ci.yml
#
# Runs the end-to-end tests. What fails is ${who}; the fix is kept as an artifact (self-heal.patch), and the
# job stays red until a person has applied it.${agent ? ` ${agent.keyVariable} must be a masked variable of the project.` : ''}
self-heal:
  image: node:22-bookworm
  timeout: 90 minutes
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_PIPELINE_SOURCE == "web"
  script:
${script.map((line) => `    - ${JSON.stringify(line)}`).join('\n')}
  after_script:
    - cd "$CI_PROJECT_DIR" && git add --intent-to-add --all :/ && git diff --binary > self-heal.patch
  artifacts:
    when: always
    paths:
      - self-heal.patch
      - ${yamlText(`${folder === '.' ? '' : `${folder}/`}.self-heal/runs/`)}
`;
}

function shellPath(home: string, folder: string): string {
  return folder === '.' ? `"${home}"` : `"${home}/${folder.replaceAll(/["\\$`]/g, '\\$&')}"`;
}
