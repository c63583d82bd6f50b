// What a checkpoint of a project with 20,000 files costs, the first and the later ones, beside `git status` of the same tree, which
// reads the same files. Usage: node bench/checkpoint.mjs.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { openWorkspace } = await import(await bundleSrc('workspace/workspace.ts'));

const folders = 200;
const filesEach = 100;
const rounds = 7;
const wantedMs = 500;

const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-checkpoint-'));
for (let folder = 0; folder < folders; folder += 1) {
  mkdirSync(path.join(dir, `f${folder}`));
  for (let file = 0; file < filesEach; file += 1) {
    writeFileSync(
      path.join(dir, `f${folder}`, `${file}.ts`),
      `export const n = ${folder * filesEach + file};\n`,
    );
  }
}
const git = (...args) => execFileSync('git', args, { cwd: dir, stdio: 'pipe' });
git('init', '-q');
git('add', '-A');
const workspace = await openWorkspace(dir);
const first = await timed(() => workspace.checkpoint());
const later = [];
const status = [];
for (let round = 0; round < rounds; round += 1) {
  writeFileSync(path.join(dir, 'f7', '7.ts'), `export const n = ${Math.random()};\n`);
  later.push(await timed(() => workspace.checkpoint()));
  status.push(await timed(() => git('status', '--porcelain')));
}
rmSync(dir, { recursive: true, force: true });
const [typical, yardstick] = [median(later), median(status)];
console.log(
  `${folders * filesEach} files: first checkpoint ${first} ms, later ${typical} ms (median of ${later.join(', ')}; wanted: at most ${wantedMs}), git status ${yardstick} ms: ${(typical / yardstick).toFixed(2)} times that`,
);
if (typical > wantedMs) process.exitCode = 1;

async function timed(work) {
  const start = performance.now();
  await work();
  return Math.round(performance.now() - start);
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
