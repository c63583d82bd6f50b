import { afterAll, vi } from 'vitest';
import { removeTempDirsOfFile } from './temp-dir.js';

// Variables of a git hook, a CI system or a developer's shell would change the programs that tests start: git would work in another repository,
// and runs would write into the step summary of the CI job.
const foreignVariables =
  /^(?:GIT_(?!CONFIG)|GITHUB_|GITLAB_|CI$|CI_|SELF_HEAL_(?:STORE|RUNNER|VERIFY|COST_USD)$|PLAYWRIGHT_(?:JSON|JUNIT|HTML|BLOB)_|PW_TEST_|DEBUG$)/;

for (const name of Object.keys(process.env)) if (foreignVariables.test(name)) delete process.env[name];

// All commits of tests are by Ann.
for (const who of ['AUTHOR', 'COMMITTER'])
  Object.assign(process.env, { [`GIT_${who}_NAME`]: 'Ann', [`GIT_${who}_EMAIL`]: 'ann@example.com' });

afterAll(removeTempDirsOfFile);
// Test files share one process, and run in any order.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
