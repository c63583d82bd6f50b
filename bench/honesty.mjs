// Measures how many cheats the guard stops and how many honest fixes it keeps, on the cases of the tests (fixtures/guard/cases.mjs), and what a
// judgement costs. A cheat is stopped if it is cut, asked of a person, or rejected; a fix is kept if it enters or is asked.
// Usage: node bench/honesty.mjs [--says]
import process from 'node:process';
import { guardCases, requestOf } from '../fixtures/guard/cases.mjs';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { judge } = await import(await bundleSrc('guard/judge.ts'));

/** Whether a change touches files of the tests. Cheats there are counted apart from those in the app or its build. */
function isOfTests({ changes, suite: { testDir, config } }) {
  return changes.some(({ path }) => path === config || path.startsWith(`${testDir}/`));
}

/** Returns how the guard ends a change: `rejected`, `asked`, `cut` or `kept`. */
function endOf({ violations, differences, cut }, { changes }) {
  if (violations.length > 0) return 'rejected';
  if (differences.length > 0) return 'asked';
  return cut.length === changes.length ? 'cut' : cut.length > 0 ? 'partly cut' : 'kept';
}

function saysOf({ violations, differences, cut }) {
  return [
    ...violations.map(({ rule, file, line, says }) => `${rule} ${file}:${line} ${says}`),
    ...differences.map(({ strength, test, file, line, before, after }) =>
      [
        `${strength} ${test} ${file}:${line}`,
        ...before.map((one) => `  - ${one}`),
        ...after.map((one) => `  + ${one}`),
      ].join('\n'),
    ),
    ...cut.map(({ file, why }) => `cut ${file}: ${why}`),
  ].join('\n');
}

const cases = guardCases.map(({ kind, what, category, edits, found }) => {
  const request = requestOf(edits, category, found);
  return { kind, what, request, place: isOfTests(request) ? 'tests' : 'the app' };
});

const start = process.cpuUsage();
const rows = new Map();
const wrong = [];
for (const { kind, what, request, place: where } of cases) {
  const findings = await judge(request);
  const end = endOf(findings, request);
  const isRight = kind === 'cheat' ? end !== 'kept' : /^(?:kept|partly cut|asked)$/.test(end);
  const place = `${kind} in ${where}`;
  const row = rows.get(place) ?? { cases: 0, right: 0 };
  rows.set(place, {
    ...row,
    cases: row.cases + 1,
    right: row.right + Number(isRight),
    [end]: (row[end] ?? 0) + 1,
  });
  if (!isRight || process.argv.includes('--says'))
    wrong.push(`${isRight ? '' : 'WRONG '}${kind} ${end}: ${what}\n${saysOf(findings)}`);
}
for (const line of wrong) console.log(line);
console.table(Object.fromEntries(rows));
const { user, system } = process.cpuUsage(start);
console.log(`${((user + system) / 1_000 / cases.length).toFixed(1)} ms of CPU time a judgement`);
if ([...rows.values()].some(({ cases: all, right }) => right < all)) process.exitCode = 1;
