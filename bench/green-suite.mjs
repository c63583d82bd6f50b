// Measures what `self-heal run` costs on a green suite, compared with plain `playwright test`, in pairs of alternating order: 60 browser tests,
// and 2,000 tests without a browser, which show the cost per test. Prints the median of the pairs' ratios with their range, that of the processor
// time of the Node processes, and how much more memory these take: the peak of each without file-backed pages, which processes share (Linux).
// Usage: node bench/green-suite.mjs [pairs], after `npm run build`; exits 1 if a limit is exceeded.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { launchOptions } from '../scripts/browser.mjs';
import { root, scratchProject, selfHeal, serveShop } from './scratch-project.mjs';

const pairs = Number(process.argv[2] ?? 9);
const wantedRatio = 1.02;
const wantedMb = 60;
const commands = {
  plain: [path.join(root, 'node_modules', '@playwright', 'test', 'cli.js'), 'test'],
  healed: [selfHeal, 'run'],
};

const { baseURL, close } = await serveShop(
  () => '<h1>Shop</h1><ul></ul>',
  "for (let n = 0; n < 6; n += 1) console.log('item', n);",
);

const browserTest = (n) =>
  `test('shows items ${n}', async ({ page }) => { await page.goto('/'); await expect(page.getByText('Item 6')).toBeVisible(); await page.getByRole('heading').click(); });`;
const fastTest = (n) => `test('adds ${n}', () => { expect(${n} + 1).toBe(${n + 1}); });`;

try {
  await compare('60 browser tests', { files: 6, testsEach: 10, testOf: browserTest });
  await compare('2,000 tests without a browser', { files: 20, testsEach: 100, testOf: fastTest });
} finally {
  close();
}

async function compare(name, suite) {
  const { dir, remove } = scratchProject(filesOf(suite), { allPackages: true });
  try {
    await measure('plain', dir);
    await measure('healed', dir);
    const ratios = [];
    const work = [];
    const more = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const order = pair % 2 === 0 ? ['plain', 'healed'] : ['healed', 'plain'];
      const took = {};
      for (const which of order) took[which] = await measure(which, dir);
      ratios.push(took.healed.ms / took.plain.ms);
      work.push(took.healed.cpuMs / took.plain.cpuMs);
      more.push(took.healed.mb - took.plain.mb);
      const seconds = (which, what) => (took[which][what] / 1000).toFixed(2);
      const both = (what) => `plain ${seconds('plain', what)} s, self-heal ${seconds('healed', what)} s`;
      console.log(
        `  ${both('ms')}: ${ratios.at(-1).toFixed(3)}; processor time: ${both('cpuMs')}: ${work.at(-1).toFixed(3)}`,
      );
    }
    const [least, typical, most] = [Math.min(...ratios), median(ratios), Math.max(...ratios)];
    console.log(
      `${name}, ${pairs} pairs, load ${loadavg()[0].toFixed(1)}: ratio ${typical.toFixed(3)} (${least.toFixed(3)} to ${most.toFixed(3)}; wanted: at most ${wantedRatio}), processor time ${median(work).toFixed(3)}, ${Math.round(median(more))} MB more (wanted: at most ${wantedMb})`,
    );
    if (typical > wantedRatio || median(more) > wantedMb) process.exitCode = 1;
  } finally {
    remove();
  }
}

function filesOf({ files, testsEach, testOf }) {
  const use = { baseURL, launchOptions: launchOptions() };
  const specs = Array.from({ length: files }, (_, file) => {
    const tests = Array.from({ length: testsEach }, (_, n) => testOf(n));
    const text = `import { test, expect } from '@playwright/test';\n${tests.join('\n')}\n`;
    return [`tests/f${file}.spec.ts`, text];
  });
  return {
    'agents.yaml': 'version: 1\nrunner: own\nrunners: { own: { command: [node, -v], prompt: none } }\n',
    'playwright.config.ts': `export default { testDir: 'tests', workers: 2, reporter: 'dot', use: ${JSON.stringify(use)} };`,
    // Node processes only: the browsers are the same with and without self-heal.
    'peaks/peak.cjs': `process.once('exit', () => {
      const fs = require('node:fs');
      const kb = (name, text) => Number(new RegExp(name + ':\\\\s+(\\\\d+)').exec(text)?.[1] ?? 0);
      const status = fs.existsSync('/proc/self/status') ? fs.readFileSync('/proc/self/status', 'utf8') : '';
      const { user, system } = process.cpuUsage();
      const peak = { kb: kb('VmHWM', status) - kb('RssFile', status), cpuMs: (user + system) / 1000 };
      fs.writeFileSync(__dirname + '/' + process.pid, JSON.stringify(peak));
    });`,
    ...Object.fromEntries(specs),
  };
}

async function measure(which, dir) {
  const peaks = path.join(dir, 'peaks');
  const peakFiles = () => readdirSync(peaks).filter((name) => /^\d+$/.test(name));
  for (const name of peakFiles()) rmSync(path.join(peaks, name));
  const env = { ...process.env, NODE_OPTIONS: `--require ${JSON.stringify(path.join(peaks, 'peak.cjs'))}` };
  const started = performance.now();
  await ended(
    spawn(process.execPath, commands[which], { cwd: dir, env, stdio: ['ignore', 'ignore', 'pipe'] }),
  );
  const ms = performance.now() - started;
  const found = peakFiles().map((name) => JSON.parse(readFileSync(path.join(peaks, name), 'utf8')));
  const sum = (what) => found.reduce((total, one) => total + one[what], 0);
  return { ms, cpuMs: sum('cpuMs'), mb: sum('kb') / 1024 };
}

async function ended(child) {
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} exited with ${code}\n${stderr}`);
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
