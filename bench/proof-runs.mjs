// Measures how many Playwright runs, and how much time, it takes to heal 1, 4, 10 and 20 causes whose first fix holds (HN-5), the search for the
// changes to blame included: at most 11 runs for any number, with a web server that takes 10 s to start and failing tests that wait for their
// time-out. No browser; the agent is a script, one at a time.
// Usage: node bench/proof-runs.mjs [causes…], after `npm run build`; the last line is the outcome as JSON.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { freePort, scratchProject, selfHeal } from './scratch-project.mjs';

const asked = process.argv.slice(2).map(Number);
const counts = asked.length > 0 ? asked : [1, 4, 10, 20];
/** The most Playwright runs, however many causes there are. */
const MOST = 11;
const words =
  'apple banana cherry damson elder figs grape hazel iris jasmine kiwis lemon mango nectar olive papaya quince raisin sorrel tomato'.split(
    ' ',
  );
const SERVER_MS = Number(process.env.SERVER_MS ?? 10_000);
const TIMEOUT_MS = 3000;

const outcomes = [];
for (const causes of counts) {
  const outcome = await measure(causes);
  outcomes.push(outcome);
  const { runs, seconds, exitCode, healed, blamed } = outcome;
  console.log(
    `${causes} causes: ${runs} Playwright runs of at most ${MOST}, ${blamed} blamed, ${seconds} s, ${healed} healed, exit ${exitCode}`,
  );
}
const isOver = outcomes.some(({ causes, runs, healed }) => runs > MOST || healed !== causes);
console.log(JSON.stringify({ serverMs: SERVER_MS, load: loadavg()[0], outcomes }));
if (isOver) process.exitCode = 1;

async function measure(causes) {
  const { dir, remove } = scratchProject(project(causes, await freePort()));
  try {
    breakParts(dir, causes);
    const start = performance.now();
    const { SELF_HEAL_RUN_ID: _, ...env } = process.env;
    const { status, stderr } = spawnSync(process.execPath, [selfHeal, 'run'], {
      cwd: dir,
      env: { ...env, CI: '1' },
      encoding: 'utf8',
    });
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    const [id] = readdirSync(path.join(dir, '.self-heal/runs'));
    const report = JSON.parse(readFileSync(path.join(dir, '.self-heal/runs', id, 'report.json'), 'utf8'));
    if (status !== 0) console.error(stderr);
    const { playwrightRuns: runs, healed } = report.totals;
    const blamed = report.causes.filter(({ blame }) => blame?.isMinimal).length;
    return { causes, runs, limit: MOST, seconds, healed, blamed, exitCode: status };
  } finally {
    remove();
  }
}

function project(causes, port) {
  const numbers = Array.from({ length: causes }, (_, index) => index + 1);
  const specs = numbers.map((n) => [
    `tests/part${n}.spec.ts`,
    // A failing test waits for its time-out, as a locator that finds nothing does.
    `import { test, expect } from '@playwright/test';
    test('part ${n}', async () => {
      await expect.poll(async () => (await (await fetch('http://127.0.0.1:${port}/${n}')).text()).trim(), { message: 'part-${words[n - 1]}' }).toBe('right');
    });`,
  ]);
  return {
    '.gitignore': 'node_modules\ntest-results\n',
    'playwright.config.ts': `import { defineConfig } from '@playwright/test';
      export default defineConfig({ testDir: 'tests', workers: 2, reporter: [['line']], timeout: 60_000,
        expect: { timeout: ${TIMEOUT_MS} },
        webServer: { command: 'node server.mjs', url: 'http://127.0.0.1:${port}', reuseExistingServer: false } });`,
    'server.mjs': `import { createServer } from 'node:http';
      import { existsSync, readFileSync } from 'node:fs';
      setTimeout(() => createServer((of, to) => { const file = 'parts' + of.url + '.txt'; to.end(existsSync(file) ? readFileSync(file) : 'ok'); }).listen(${port}, '127.0.0.1'), ${SERVER_MS});`,
    ...Object.fromEntries(specs),
    ...Object.fromEntries(numbers.map((n) => [`parts/${n}.txt`, 'right\n'])),
    'tests/green.spec.ts': `import { test } from '@playwright/test';\ntest('is green', () => {});`,
    'fixer.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
      const n = /^Test:.*part (\\d+)/m.exec(readFileSync(0, 'utf8'))[1];
      writeFileSync('parts/' + n + '.txt', 'right\\n');`,
    'agents.yaml': `version: 1\nrunner: own\nrunners: { own: { command: [node, fixer.mjs], prompt: stdin } }\nverify: { intent: tests }\n`,
  };
}

/** Commits the parts as they are, and then broken, each by a line of its own. */
function breakParts(dir, causes) {
  const git = (...args) =>
    spawnSync('git', ['-c', 'user.name=me', '-c', 'user.email=me@example.com', ...args], { cwd: dir });
  const commit = (message) => {
    git('add', '--all');
    git('commit', '--quiet', '-m', message);
  };
  git('init', '--quiet', '--initial-branch=main');
  commit('parts');
  for (let n = 1; n <= causes; n += 1)
    writeFileSync(path.join(dir, 'parts', `${n}.txt`), `wrong ${words[n - 1]}\n`);
  commit('other parts');
}
