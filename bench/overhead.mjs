// Measures how long self-heal itself takes from the end of the confirming run to the start of the first agent (gathering, classifying, signing,
// grouping, the copy and the prompt), and from the end of the suite to the confirming run, which includes gathering, too. Read from the run's
// own events, for 1, 100 and 300 failing browser tests; 1 is run three times, the others, which take minutes, once. The project has what `npm
// init playwright` installs; 1 failure is also measured with all packages of this repository, which have to be copied before the agent starts.
// There is no git repository, because the search for the change to blame takes Playwright runs, which are no overhead. The time with a repository is
// printed separately, for one failure from the last of five commits.
// Usage: node bench/overhead.mjs [failures …], after `npm run build`; exits 1 if a limit is exceeded.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { launchOptions } from '../scripts/browser.mjs';
import { scratchProject, selfHeal } from './scratch-project.mjs';

const html = (n) =>
  `data:text/html,<h1>Page ${n}</h1><script>for (let i = 0; i < 20; i += 1) console.log('line', i); setTimeout(() => { throw new TypeError("Cannot read properties of undefined (reading 'p${n}')"); })</script>`;

/** Returns a project in which this many tests fail, each with its own cause. */
function project(failures, allPackages) {
  const tests = Array.from(
    { length: failures },
    (_, n) =>
      `test('page ${n}', async ({ page }) => { await page.goto(${JSON.stringify(html(n))}); await expect(page.locator('#missing-${n}')).toBeVisible(); });`,
  );
  const files = {
    'agents.yaml':
      'version: 1\nrunner: own\nrunners: { own: { command: [node, -v], prompt: none } }\nlimits: { agentRuns: 1 }\n',
    'playwright.config.ts': `export default { testDir: 'tests', workers: 2, reporter: 'dot', expect: { timeout: 300 }, use: { launchOptions: ${JSON.stringify(launchOptions())} } };`,
    'tests/all.spec.ts': `import { test, expect } from '@playwright/test';\ntest.describe.configure({ mode: 'parallel' });\n${tests.join('\n')}\n`,
  };
  return scratchProject(files, { allPackages });
}

/** Returns a project whose last commit removed the element that a test looks for. */
function brokenProject() {
  const made = scratchProject({
    'agents.yaml':
      'version: 1\nrunner: own\nrunners: { own: { command: [node, -v], prompt: none } }\nlimits: { agentRuns: 1 }\n',
    '.gitignore': 'node_modules\ntest-results\n',
    'playwright.config.ts': `export default { testDir: 'tests', workers: 2, reporter: 'dot', expect: { timeout: 300 }, use: { launchOptions: ${JSON.stringify(launchOptions())} } };`,
    'page.html': '<p data-testid="order-total">5</p>\n',
    'tests/all.spec.ts': `import { test, expect } from '@playwright/test';\ntest('shows the total', async ({ page }) => { await page.goto('file://' + process.cwd() + '/page.html'); await expect(page.getByTestId('order-total')).toBeVisible(); });\n`,
  });
  const git = (...args) =>
    spawnSync('git', ['-c', 'user.name=me', '-c', 'user.email=me@example.com', ...args], { cwd: made.dir });
  const commit = (files) => {
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(made.dir, file), text);
    git('add', '--all');
    git('commit', '--quiet', '-m', 'change');
  };
  git('init', '--quiet', '--initial-branch=main');
  for (const n of [1, 2, 3, 4]) commit({ [`notes${n}.txt`]: `${n}\n` });
  commit({ 'page.html': '<p data-testid="sum">5</p>\n' });
  return made;
}

async function measure(failures, allPackages, made = project(failures, allPackages)) {
  const { dir, remove } = made;
  try {
    await new Promise((resolve) => {
      spawn(process.execPath, [selfHeal, 'run'], { cwd: dir, stdio: 'ignore' }).on('exit', resolve);
    });
    const lines = readFileSync(path.join(dir, '.self-heal', 'latest', 'events.ndjson'), 'utf8')
      .trim()
      .split('\n');
    const events = lines.map((line) => JSON.parse(line));
    const at = (type, purpose) =>
      events.find((one) => one.type === type && (!purpose || one.purpose === purpose)).time;
    return {
      after: at('agent.started') - at('suite.ended', 'confirm'),
      before: at('suite.started', 'confirm') - at('suite.ended', 'first'),
      untilAgent: at('agent.started') - at('suite.ended', 'first'),
      searches: events.filter((one) => one.type === 'suite.started' && one.purpose === 'blame').length,
    };
  } finally {
    remove();
  }
}

const asked = process.argv.slice(2).map(Number);
for (const [failures, aimMs, allPackages] of [
  [1, 300, false],
  [1, null, true],
  [100, 1500, false],
  [300, 3000, false],
]) {
  if (asked.length > 0 && !asked.includes(failures)) continue;
  const times = [];
  for (let round = 0; round < (failures === 1 ? 3 : 1); round += 1)
    times.push(await measure(failures, allPackages));
  const after = median(times.map((one) => one.after));
  const limit = aimMs === null ? 'packages of 295 MB, no limit' : `wanted: at most ${aimMs} ms`;
  console.log(
    `${failures} failure(s): the agent starts ${after} ms after the confirming run (${times.map((one) => one.after).join(', ')}), ${limit}; between the two runs ${median(times.map((one) => one.before))} ms; load ${loadavg()[0].toFixed(1)}`,
  );
  if (aimMs !== null && after > aimMs) process.exitCode = 1;
}

if (asked.length === 0 || asked.includes(1)) {
  const { untilAgent, searches } = await measure(1, false, brokenProject());
  console.log(
    `1 failure, blame on: the first agent starts ${(untilAgent / 1000).toFixed(1)} s after the suite, with ${searches} run(s) that search; load ${loadavg()[0].toFixed(1)}`,
  );
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
