// Measures what the trace costs in the confirming run: 12 red browser tests, each with its own error, run again by self-heal, which records traces,
// against plain `playwright test` of the same tests, in pairs. Prints the median of the pairs' ratios with their range.
// Usage: node bench/confirming.mjs [pairs], after `npm run build`; exits 1 if the limit is exceeded.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { launchOptions } from '../scripts/browser.mjs';
import { root, scratchProject, selfHeal, serveShop } from './scratch-project.mjs';

const pairs = Number(process.argv[2] ?? 9);
const wantedRatio = 1.25;
const playwright = path.join(root, 'node_modules', '@playwright', 'test', 'cli.js');

const { baseURL, close } = await serveShop((url) => `<h1>${url}</h1><ul></ul><button>Order</button>`);
const use = { baseURL, launchOptions: launchOptions() };
// Of tests that fail alike, or on the same page, only three are run again.
const names = 'apple bread cocoa dates endive figs ginger honey icing jam kale lemon'.split(' ');
const redTest = (n) =>
  `test('red ${n}', async ({ page }) => { await page.goto('/${names[n]}'); await expect(page.getByText('Item 6')).toBeVisible(); await page.getByRole('button').click(); await expect(page.locator('#${names[n]}')).toBeVisible(); });`;
const specs = Array.from({ length: 4 }, (_, file) => [
  `tests/f${file}.spec.ts`,
  `import { test, expect } from '@playwright/test';\n${[0, 1, 2].map((n) => redTest(3 * file + n)).join('\n')}\n`,
]);
const { dir, remove } = scratchProject(
  {
    'agents.yaml': 'version: 1\nrunner: own\nrunners: { own: { command: [node, -v], prompt: none } }\n',
    'playwright.config.ts': `export default { testDir: 'tests', workers: 2, reporter: 'dot', expect: { timeout: 1000 }, use: ${JSON.stringify(use)} };`,
    ...Object.fromEntries(specs),
  },
  { allPackages: true },
);

try {
  const ratios = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const order = pair % 2 === 0 ? [plain, traced] : [traced, plain];
    const took = new Map();
    for (const measure of order) took.set(measure, await measure());
    ratios.push(took.get(traced) / took.get(plain));
    const seconds = (which) => (took.get(which) / 1000).toFixed(2);
    console.log(`  plain ${seconds(plain)} s, with traces ${seconds(traced)} s: ${ratios.at(-1).toFixed(3)}`);
  }
  const sorted = ratios.toSorted((a, b) => a - b);
  const typical = sorted[Math.floor(pairs / 2)];
  console.log(
    `12 red tests, ${pairs} pairs, load ${loadavg()[0].toFixed(1)}: ratio ${typical.toFixed(3)} (${sorted[0].toFixed(3)} to ${sorted.at(-1).toFixed(3)}; wanted: at most ${wantedRatio})`,
  );
  if (typical > wantedRatio) process.exitCode = 1;
} finally {
  close();
  remove();
}

async function plain() {
  const started = performance.now();
  await run([playwright, 'test']);
  return performance.now() - started;
}

/** A dry run ends after the confirming run. */
async function traced() {
  await run([selfHeal, 'run', '--dry-run']);
  const lines = readFileSync(path.join(dir, '.self-heal', 'latest', 'events.ndjson'), 'utf8')
    .trim()
    .split('\n');
  const events = lines.map((line) => JSON.parse(line));
  const found = (type) => events.find((one) => one.type === type && one.purpose === 'confirm');
  if (found('suite.started').tests !== names.length) throw new Error('not all tests were run again');
  return found('suite.ended').time - found('suite.started').time;
}

async function run(command) {
  await new Promise((resolve) => {
    spawn(process.execPath, command, { cwd: dir, stdio: 'ignore' }).on('exit', resolve);
  });
}
