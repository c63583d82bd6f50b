import type { AgentProgram } from '../agents/programs.js';
import { type CiProject, runsFolderOf, whatHappens } from './ci-project.js';

/**
 * A GitHub Actions workflow that gives the agent no token of the repository: the job's token may only read, the checkout does
 * not keep it, and no step hands it on. What was fixed is an artifact for a person to apply, and a healed run is red until then.
 */
export function githubWorkflow(
  project: CiProject,
  agent: AgentProgram | null,
  shards: number | null,
): string {
  const { manager, folder, configFlag } = project;
  const runs = runsFolderOf(project);
  const heal = shards === null ? 'self-heal run' : 'self-heal heal --from "$RUNNER_TEMP/shards"';
  const what = whatHappens(agent);
  return `# Runs the end-to-end tests. What fails is ${what}; the fix is kept as an artifact (self-heal.patch), and the
# job stays red until a person has applied it. ${agent ? 'The agent gets its own key and nothing else: no write token.' : 'Neither a key nor a token is needed.'}
name: self-heal

on:
  pull_request:
  workflow_dispatch:

permissions:
  contents: read

jobs:
${guardJob(project)}
${shards === null ? '' : shardJob(project, { shards, runs })}  self-heal:
${shards === null ? '' : '    needs: shard\n'}    # A pull request from a fork gets no secrets, and so no agent.${shards === null ? '' : ' Also, and above all, if shards failed.'}
    if: ${shards === null ? isOwn : `\${{ !cancelled() && (${isOwn}) }}`}
    runs-on: ubuntu-latest
    timeout-minutes: 90
    defaults:
      run:
        working-directory: ${yamlText(folder)}
    steps:
${setUpSteps(project)}
      - run: ${manager.exec} playwright install --with-deps
${agent ? `      - run: npm install --global ${agent.packageName}\n` : ''}${shards === null ? '' : download}      - name: ${shards === null ? 'Run the tests, and fix what fails' : 'Fix what failed on the shards'}
        run: ${manager.exec} ${heal} --fail-on-heal${configFlag}
${agent ? keyOf(agent) : ''}      - name: Keep the changes
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

function keyOf({ keyVariable }: AgentProgram): string {
  return `        env:
          ${keyVariable}: \${{ secrets.${keyVariable} }}
`;
}

const isOwn =
  "github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository";

const download = `      - uses: actions/download-artifact@v4
        with:
          pattern: self-heal-shard-*
          path: \${{ runner.temp }}/shards
`;

/** A job for each machine that runs a part of the tests; it starts no agent. */
function shardJob(project: CiProject, { shards, runs }: { shards: number; runs: string }): string {
  const { manager, folder, configFlag } = project;
  const numbers = Array.from({ length: shards }, (_, at) => at + 1).join(', ');
  return `  shard:
    # Red where a test fails; whether the suite is green in the end is for the job self-heal to say.
    runs-on: ubuntu-latest
    timeout-minutes: 60
    strategy:
      fail-fast: false
      matrix:
        shard: [${numbers}]
    defaults:
      run:
        working-directory: ${yamlText(folder)}
    steps:
${setUpSteps(project)}
      - run: ${manager.exec} playwright install --with-deps
      - name: Run this shard, and collect what fails
        run: ${manager.exec} self-heal run --collect --shard \${{ matrix.shard }}/${shards}${configFlag}
      - uses: actions/upload-artifact@v4
        if: \${{ !cancelled() }}
        with:
          name: self-heal-shard-\${{ matrix.shard }}
          path: ${yamlText(runs)}
          include-hidden-files: true
          if-no-files-found: ignore
          overwrite: true

`;
}

/** A job that judges pull requests; it starts no agent. */
function guardJob(project: CiProject): string {
  const { manager, folder, configFlag } = project;
  return `  guard:
    # Names changes that weaken the tests, whoever wrote the pull request. Runs no tests and needs no secrets.
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    timeout-minutes: 10
    defaults:
      run:
        working-directory: ${yamlText(folder)}
    steps:
${setUpSteps(project)}
      - run: ${manager.exec} self-heal guard${configFlag}
`;
}

/** The checkout with its history, which guard and blame compare with, and the project's packages. */
function setUpSteps({ install, before, installFolder }: CiProject): string {
  return `      - uses: actions/checkout@v4
        with:
          persist-credentials: false
          fetch-depth: 0
      - uses: actions/setup-node@v4
        with:
          node-version: 22
${before === null ? '' : `      - run: ${before}\n`}      - run: ${install}
        working-directory: ${yamlText(installFolder)}`;
}

/** A YAML scalar: quoted where it is more than a plain word. */
export function yamlText(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : JSON.stringify(text);
}
