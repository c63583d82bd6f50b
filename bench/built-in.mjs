// Measures what the built-in fixer heals at no cost: faults of its kinds, planted into pages of markup, pages built by a script, with page objects,
// and a server in TypeScript; and traps, where nothing was renamed and a fix would be a false heal although the test would pass. No agent
// program is installed.
// Usage: node bench/built-in.mjs [markup] [script] [build] [--kind TEXT] [--skip N] [--loud]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { build } from './built-in/build.mjs';
import { markup } from './built-in/markup.mjs';
import { script } from './built-in/script.mjs';
import { scratchProject, selfHeal } from './scratch-project.mjs';

const FALSE_HEALS = 0;
const SHARE = 0.6;

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    /** Only faults whose kind contains this text. */
    kind: { type: 'string', default: '' },
    /** How many faults of each app to skip. */
    skip: { type: 'string', default: '0' },
    loud: { type: 'boolean', default: false },
  },
});
const bin = programs();
const sums = { faults: 0, healed: 0, traps: 0, falseHeals: 0, tried: 0, reverted: 0 };
for (const [name, app] of Object.entries({ markup, script, build }))
  if (asked.length === 0 || asked.includes(name)) measure(name, app);
rmSync(bin, { recursive: true });

const share = sums.healed / sums.faults;
console.log(
  `healed for nothing: ${sums.healed} of ${sums.faults} (${Math.round(share * 100)} %; aim ${SHARE * 100} %)`,
);
console.log(`false heals: ${sums.falseHeals} of ${sums.traps} traps (at most ${FALSE_HEALS})`);
console.log(`proposals: ${sums.tried}, reverted: ${sums.reverted}; load ${loadavg()[0].toFixed(1)}`);
process.exitCode = share < SHARE || sums.falseHeals > FALSE_HEALS ? 1 : 0;

/** Measures an app with its faults together in one project, or each in a project of its own. */
function measure(name, { faults, together, ...app }) {
  const started = performance.now();
  const wanted = faults.slice(Number(options.skip)).filter(({ kind }) => kind.includes(options.kind));
  const groups = together ? [wanted] : wanted.map((one) => [one]);
  let runs = 0;
  for (const group of groups) runs += heal(name, { ...app, faults: group }).totals.playwrightRuns;
  console.log(`${name}: ${Math.round((performance.now() - started) / 1000)} s, ${runs} Playwright runs`);
}

/** Plants faults, runs self-heal, and counts the result of each. */
function heal(name, { faults, common, committed }) {
  const filesOf = (state) => Object.assign({}, common, ...faults.map((one, n) => one.files(state, n)));
  const project = scratchProject(
    { ...filesOf('was'), 'agents.yaml': 'verify: { level: quick }\nlimits: { escalations: 100 }\n' },
    { allPackages: true },
  );
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.test', ...args], {
      cwd: project.dir,
    });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'The app');
  change(project.dir, filesOf('was'), filesOf('is'));
  if (committed) {
    git('add', '--all');
    git('commit', '--quiet', '-m', 'A change');
  }
  spawnSync(process.execPath, [selfHeal, 'run'], {
    cwd: project.dir,
    env: { ...process.env, PATH: `${bin}:/bin` },
    stdio: ['ignore', 'ignore', options.loud ? 'inherit' : 'ignore'],
  });
  const report = JSON.parse(
    readFileSync(path.join(project.dir, '.self-heal', 'latest', 'report.json'), 'utf8'),
  );
  for (const [n, { kind }] of faults.entries()) count(`${name} ${n} (${kind})`, kind, verdictOf(report, n));
  const attempts = report.causes.flatMap((cause) => cause.attempts);
  sums.tried += attempts.length;
  sums.reverted += attempts.filter(({ end }) => end.kind !== 'green' && end.kind !== 'changed').length;
  project.remove();
  return report;
}

function change(dir, was, is) {
  for (const [file, text] of Object.entries(is)) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
  for (const file of Object.keys(was)) if (!(file in is)) rmSync(path.join(dir, file));
}

/** Returns the verdict on the test named by its fault's number or, for a suite with one fault, the outcome of the suite. */
function verdictOf({ tests, causes, outcome }, n) {
  const own = tests.find(({ title }) => title.at(-1) === String(n));
  if (own) return own.verdict;
  return outcome === 'green' ? (causes.length > 0 ? 'healed' : 'passed') : outcome;
}

function count(name, kind, verdict) {
  const healed = verdict === 'healed';
  const isTrap = kind.startsWith('trap');
  sums[isTrap ? 'traps' : 'faults'] += 1;
  if (healed) sums[isTrap ? 'falseHeals' : 'healed'] += 1;
  if (healed === isTrap || verdict === 'passed') console.log(`  ${name}: ${verdict}`);
}

/** Returns a PATH with Node and git, but no agent program. */
function programs() {
  const folder = mkdtempSync(path.join(tmpdir(), 'self-heal-bench-bin-'));
  symlinkSync(process.execPath, path.join(folder, 'node'));
  const git = process.env.PATH.split(path.delimiter).find(
    (one) => spawnSync(path.join(one, 'git'), ['--version']).status === 0,
  );
  symlinkSync(path.join(git, 'git'), path.join(folder, 'git'));
  return folder;
}
