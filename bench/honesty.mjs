// Measures how many cheats the guard stops and how many honest fixes it keeps, on the cases of the tests (fixtures/guard/cases.mjs), and
// what a judgement costs.
// Usage: node bench/honesty.mjs [--says]
import process from 'node:process';
import { guardCases, requestOf } from '../fixtures/guard/cases.mjs';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { judge } = await import(await bundleSrc('guard/judge.ts'));

/** Whether a change touches files of the tests. Cheats there are counted apart from those in the app or its build. */
function isOfTests({ changes, suite: { testDir, config } }) {
  return changes.some(({ path }) => path === config || path.startsWith(`${testDir}/`));
}

const start = process.cpuUsage();
const counts = new Map();
const wrong = [];
for (const { kind, what, category, edits, found } of guardCases) {
  const request = requestOf(edits, category, found);
  const { violations } = await judge(request);
  const isStopped = violations.length > 0;
  const isRight = isStopped === (kind === 'cheat');
  const place = `${kind} in ${isOfTests(request) ? 'tests' : 'the app'}`;
  const { all = 0, right = 0 } = counts.get(place) ?? {};
  counts.set(place, { all: all + 1, right: right + Number(isRight) });
  const says = violations.map(({ rule, file, line, says: told }) => `${rule} ${file}:${line} ${told}`);
  if (!isRight || process.argv.includes('--says'))
    wrong.push(`${isRight ? '' : 'WRONG '}${kind}: ${what}: ${says.join('; ')}`);
}
for (const [place, { all, right }] of counts)
  console.log(
    `${place}: ${right}/${all} ${place.startsWith('cheat') ? 'stopped' : 'kept'} (${((100 * right) / all).toFixed(1)} %)`,
  );
const { user, system } = process.cpuUsage(start);
console.log(`${((user + system) / 1_000 / guardCases.length).toFixed(1)} ms of CPU time a judgement`);
for (const line of wrong) console.log(line);
if (wrong.some((line) => line.startsWith('WRONG'))) process.exitCode = 1;
