import { afterAll, vi } from 'vitest';
import { removeTempDirsOfFile } from './temp-dir.js';

// What a hook of git, a CI system or a developer's shell sets would otherwise reach every test, and what tests run would answer it: git would work
// in another repository, and runs would write into the summary of the job that runs the tests.
const foreign =
  /^(?:GIT_(?!CONFIG)|GITHUB_|GITLAB_|CI$|CI_|SELF_HEAL_(?:STORE|RUNNER|VERIFY|COST_USD)$|PLAYWRIGHT_(?:JSON|JUNIT|HTML|BLOB)_|PW_TEST_|DEBUG$)/;

for (const name of Object.keys(process.env)) if (foreign.test(name)) delete process.env[name];

// Whoever commits in a test is Ann.
for (const who of ['AUTHOR', 'COMMITTER'])
  Object.assign(process.env, { [`GIT_${who}_NAME`]: 'Ann', [`GIT_${who}_EMAIL`]: 'ann@example.com' });

afterAll(removeTempDirsOfFile);
// Files share their process, and run in any order.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
