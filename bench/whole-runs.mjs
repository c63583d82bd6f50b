// Measures which fixes a run keeps without asking: whole runs in four small apps (fixtures/guard/apps) with a scripted agent that fixes the app
// or, if the author intended the change, adapts the tests or undoes the change. Prints the cases that end wrong.
// Usage: node bench/whole-runs.mjs [honest] [adapts] [undoes] [--app NAME] [--only TEXT] [--says]. With --check, Playwright alone runs, to
// show that each fault turns its test red and that each fix turns all tests green.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { appCases, intendedCases } from '../fixtures/guard/apps/cases.mjs';
import { launchOptions } from '../scripts/browser.mjs';
import { freePort, scratchProject, selfHeal } from './scratch-project.mjs';

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    app: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    says: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});

const shared = {
  'playwright.config.ts': `import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'tests',
  workers: 1,
  reporter: 'list',
  expect: { timeout: 2_000 },
  use: { actionTimeout: 2_000, launchOptions: ${JSON.stringify(launchOptions())} },
});
`,
};

/** Returns how the command ended, with what it printed. */
function start(dir, port, ...args) {
  const env = { ...process.env, PORT: port };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

function write(dir, files) {
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(dir, file), text);
}

/** Returns why a case shows nothing, or null. */
function flawOf({ healthy, broken, fixed }, dir, port) {
  const suite = () => start(dir, port, 'node_modules/@playwright/test/cli.js', 'test');
  write(dir, broken);
  if (suite().status === 0) return 'green with the fault';
  write(dir, fixed);
  const { status, output } = suite();
  if (status !== 0) return `red with the fix: ${output}`;
  if (healthy === undefined || fixed === healthy) return null;
  write(dir, healthy);
  return suite().status === 0 ? null : 'red before the change';
}

const agentsYaml = (agent) => `version: 1
runner: own
fixer: none
runners: { own: { command: [node, '${agent}'], prompt: stdin } }
retries: { max: 1, backoff: { initial: 10ms, factor: 1, max: 10ms } }
verify: { repeat: 1, flips: 0, regression: none }
blame: { time: 30m }
`;

/** Runs self-heal, and returns how the case ended: `kept`, `undone`, `asked` or `rejected`, with why and the number of agent runs. */
function endOf({ healthy, broken, fixed }, dir, port) {
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], { cwd: dir });
  const agent = `${dir}-agent.mjs`;
  write(dir, { 'agents.yaml': agentsYaml(agent) });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'The app');
  if (healthy) {
    write(dir, broken);
    git('commit', '--quiet', '--all', '--message', 'A change that is meant');
  }
  const edits = Object.entries(fixed).filter(([file, text]) => broken[file] !== text);
  writeFileSync(
    agent,
    `import { writeFileSync } from 'node:fs';
for (const [file, text] of ${JSON.stringify(edits)}) writeFileSync(file, text);
console.log('SELF-HEAL: {"status":"fixed","summary":"edited"}');`,
  );
  const { status, output } = start(dir, port, selfHeal, 'run');
  rmSync(agent);
  const file = path.join(dir, '.self-heal', 'latest', 'report.json');
  if (!existsSync(file)) return { end: 'broken', why: output, runs: 0 };
  const { causes, totals } = JSON.parse(readFileSync(file, 'utf8'));
  const hasEntered = git('status', '--porcelain').toString().trim() !== '';
  const wasOffered = causes.some(({ attempts }) => attempts.some(({ end }) => end.kind === 'offered'));
  const end = hasEntered ? (healthy === fixed ? 'undone' : 'kept') : wasOffered ? 'asked' : 'rejected';
  const why = causes.map(({ verdict, reason }) => `${verdict}: ${reason}`).join(' · ');
  return {
    end,
    why: `exit ${status}, ${totals.agentRuns} agent runs, ${causes.length} causes; ${why}`,
    runs: totals.agentRuns,
    output,
  };
}

const wanted = { honest: ['kept'], adapts: ['asked'], undoes: ['asked'] };
const rows = {};
for (const fix of [...appCases, ...intendedCases]) {
  const { app, kind, what, enters, healthy, broken } = fix;
  // The reviewer has to see cheats: `honesty` measures that.
  if (!options.check && !wanted[kind]) continue;
  if (asked.length > 0 && !asked.includes(kind)) continue;
  if (!app.includes(options.app) || !what.includes(options.only)) continue;
  const { dir, remove } = scratchProject({ ...shared, ...(healthy ?? broken) }, { linked: true });
  const port = String(await freePort());
  if (options.check) {
    const flaw = flawOf(fix, dir, port);
    if (flaw) console.log(`${kind} ${app}: ${what}: ${flaw}`);
  } else {
    const started = performance.now();
    const { end, why, runs, output } = endOf(fix, dir, port);
    const isRight =
      (wanted[kind].includes(end) || (enters === true && end === 'kept')) &&
      (healthy === undefined || runs <= 1);
    const row = (rows[kind] ??= { cases: 0, right: 0, seconds: 0 });
    row.cases += 1;
    row.right += Number(isRight);
    row.seconds += Math.round((performance.now() - started) / 1000);
    row[end] = (row[end] ?? 0) + 1;
    if (!isRight || options.says)
      console.log(`${isRight ? '' : 'WRONG '}${kind} ${end}: ${app}, ${what}: ${why}`);
    if (options.says) console.log(output);
  }
  remove();
}
if (!options.check) console.table(rows);
console.log(`load ${loadavg()[0].toFixed(1)}`);
