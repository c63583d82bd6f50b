// Measures what the copy of a project with 20,000 files and this repository's packages costs: making it, bringing it up to date, and reading
// what an agent changed, compared with `git status` of the same tree, which looks at the same files.
// Usage: node bench/copy.mjs; exits 1 if a limit is exceeded.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { bundleSrc } from '../scripts/bundle-src.mjs';
import { scratchProject } from './scratch-project.mjs';

const { openWorkspace } = await import(await bundleSrc('workspace/workspace.ts'));
const { openContentStore } = await import(await bundleSrc('workspace/change.ts'));

const folders = 200;
const filesEach = 100;
const rounds = 7;
const wantedMs = 1500;

const names = Array.from({ length: folders * filesEach }, (_, n) => `f${n % folders}/${n}.ts`);
const files = Object.fromEntries(names.map((name, n) => [name, `export const n = ${n};\n`]));
const { dir, remove } = scratchProject(
  { '.gitignore': 'node_modules\n.self-heal\n', ...files },
  { allPackages: true },
);
const git = (...args) => execFileSync('git', args, { cwd: dir, stdio: 'pipe' });
git('init', '-q');
git('add', '-A');
const runDir = path.join(dir, '.self-heal', 'runs', 'bench');
mkdirSync(runDir, { recursive: true });
const workspace = await openWorkspace({
  project: dir,
  runId: 'bench',
  runDir,
  contents: openContentStore(runDir),
  warn: (message) => console.error(message),
  onCopy: async () => {},
});
try {
  const first = await timed(() => workspace.updateCopy());
  const [later, collected, status] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    writeFileSync(path.join(dir, 'f7', '7.ts'), `export const n = ${Math.random()};\n`);
    let place;
    later.push(await timed(async () => (place = await workspace.updateCopy())));
    writeFileSync(path.join(place.cwd, 'f8', '8.ts'), `export const n = ${Math.random()};\n`);
    collected.push(await timed(() => workspace.collectChanges(String(round))));
    status.push(await timed(() => git('status', '--porcelain')));
  }
  const [again, read, yardstick] = [later, collected, status].map(median);
  console.log(
    `${names.length} files and packages, load ${loadavg()[0].toFixed(1)}: copied in ${first} ms; up to date in ${again} ms (of ${later.join(', ')}), changes read in ${read} ms (of ${collected.join(', ')}; wanted: at most ${wantedMs} each); git status ${yardstick} ms: ${(again / yardstick).toFixed(2)} and ${(read / yardstick).toFixed(2)} times that`,
  );
  if (again > wantedMs || read > wantedMs) process.exitCode = 1;
} finally {
  await workspace.close();
  remove();
}

async function timed(work) {
  const start = performance.now();
  await work();
  return Math.round(performance.now() - start);
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
