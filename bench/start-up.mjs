// Measures how much longer than bare Node self-heal takes to start: until `--version` and `--help` end, and until `run` starts Playwright.
// Measured in processor time, so that other work on the machine matters little; bare Node is measured in the same rounds.
// Usage: node bench/start-up.mjs [rounds], after `npm run build`; exits 1 if a limit is exceeded.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';

const rounds = Number(process.argv[2] ?? 15);
const selfHeal = path.resolve(import.meta.dirname, '..', 'bin', 'self-heal.js');
const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-start-up-'));
const used = path.join(dir, 'used.txt');
const preload = path.join(dir, 'preload.cjs');

const packageDir = path.join(dir, 'node_modules', '@playwright', 'test');
mkdirSync(packageDir, { recursive: true });
writeFileSync(path.join(packageDir, 'package.json'), '{ "name": "@playwright/test", "version": "1.65.0" }');
writeFileSync(path.join(packageDir, 'cli.js'), '');
writeFileSync(path.join(dir, 'playwright.config.js'), 'module.exports = {};');
writeFileSync(
  path.join(dir, 'agents.yaml'),
  'version: 1\nrunner: own\nrunners: { own: { command: [node, -v], prompt: none } }\n',
);
// Ends the process when it is about to start Playwright, and records the processor time used until then.
writeFileSync(
  preload,
  `const { writeFileSync } = require('node:fs');
  const processes = require('node:child_process');
  processes.spawn = () => process.exit();
  require('node:module').syncBuiltinESMExports();
  process.once('exit', () => {
    const { user, system } = process.cpuUsage();
    writeFileSync(${JSON.stringify(used)}, String((user + system) / 1000));
  });`,
);

const commands = {
  'bare Node': ['-e', '0'],
  '--version': [selfHeal, '--version'],
  '--help': [selfHeal, '--help'],
  run: [selfHeal, 'run'],
};
const limitsMs = { '--version': 150, '--help': 150, run: 250 };

const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, args] of Object.entries(commands)) times[name].push(timeOf(args));
}
rmSync(dir, { recursive: true, force: true });

const bare = median(times['bare Node']);
console.log(`median of ${rounds} rounds, load ${loadavg()[0].toFixed(1)}; bare Node ${bare} ms`);
for (const [name, limitMs] of Object.entries(limitsMs)) {
  const took = median(times[name]);
  const ratio = (took / bare).toFixed(2);
  console.log(
    `${name}: ${took} ms, ${ratio} times bare Node; ${took - bare} ms above it (wanted: at most ${limitMs})`,
  );
  if (took - bare > limitMs) process.exitCode = 1;
}

function timeOf(args) {
  rmSync(used, { force: true });
  spawnSync(process.execPath, ['--require', preload, ...args], { cwd: dir, stdio: 'ignore' });
  return Math.round(Number(readFileSync(used, 'utf8')));
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
