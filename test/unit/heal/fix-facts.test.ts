import { describe, expect, it } from 'vitest';
import { gatherFix } from '../../../src/heal/review/gather-fix.js';
import { openContentStore } from '../../../src/workspace/change.js';
import { storeTreeState } from '../../../src/run/tree-state.js';
import { aReport, aReportTest } from '../../rig/a-report.js';
import { failing } from '../../rig/builders.js';
import { leaveRun } from '../../rig/events-of-report.js';
import { gitRepository } from '../../rig/git-repository.js';
import {
  findRules,
  readTestSource,
  findTouchedCode,
  noteIfTestNamesError,
} from '../../../src/heal/review/fix-facts.js';

const feeOf = (check: string) => `import { rates } from './rates';

const other = () => 1;

// Parcels over 20 kg are refused.
export function feeOf(weight: number): number {
${check}  return rates.find(({ upTo }) => weight <= upTo)!.fee;
}

const last = () => 2;
`;
const green = feeOf('  if (weight > 20) throw new Error("too heavy");\n');
const red = feeOf('');
const now = feeOf('  if (weight === 21) throw new Error("too heavy");\n');
const file = { path: 'src/fee.ts', green, red, now };

describe('the code that a fix touches', () => {
  it('HN-11 shows the function around a change, with its comment, in three states', () => {
    const [code, ...others] = findTouchedCode([file]);
    expect(others).toEqual([]);
    expect(code?.at).toBe('src/fee.ts:5-9');
    for (const state of [code?.green, code?.red, code?.now]) {
      expect(state?.startsWith('// Parcels over 20 kg are refused.\nexport function feeOf')).toBe(true);
      expect(state?.endsWith('\n}')).toBe(true);
    }
    expect(code?.green).toContain('weight > 20');
    expect(code?.red).not.toContain('throw');
    expect(code?.now).toContain('weight === 21');
  });

  it('HN-11 shows the lines around a change if the file cannot be parsed; a new file has no old state', () => {
    const text = (line: string) =>
      [...Array<string>(20).fill('x'), line, ...Array<string>(20).fill('y')].join('\n');
    const [page] = findTouchedCode([{ path: 'a.py', red: text('a'), now: text('b') }]);
    expect(page).toMatchObject({ at: 'a.py:11-31' });
    expect(page).not.toHaveProperty('green');
    expect(page?.now?.split('\n')).toHaveLength(21);
    expect(findTouchedCode([{ path: 'b.ts', green: null, red: null, now: 'const b = 1;' }])).toEqual([
      { at: 'b.ts:1-1', green: null, red: null, now: 'const b = 1;' },
    ]);
  });
});

describe('the project’s own text about a fix', () => {
  const readme = '# Post\n\nParcels over 20 kg are refused at the desk.\n\nStamps are sold at noon.\n';
  const texts = [
    { path: 'README.md', text: readme, green: readme.replace('20', '30') },
    { path: 'src/fee.ts', text: now, green: now },
    {
      path: 'src/stamp.ts',
      text: '// A stamp that is heavy has a picture.\nconst parcel = 20;\n',
      green: null,
    },
  ];

  it('HN-11 finds documentation and comments that mention names in the fix', () => {
    const rules = findRules([{ ...file, red: feeOf('  const parcels = 20;\n') }], texts);
    const lines = rules.map(({ file, line, hasChanged }) => `${file}:${line} ${String(hasChanged)}`);
    expect(lines).toContain('README.md:3 true');
    expect(lines).toContain('src/fee.ts:5 false');
    expect(rules.map(({ text }) => text).join('\n')).not.toMatch(/sold at noon|const parcel/);
  });

  it('HN-11 ignores comments that the fix itself adds', () => {
    const excused = `// Weight 21 is refused on purpose.\n${now}`;
    const rules = findRules([{ ...file, now: excused }], [{ path: 'src/fee.ts', text: excused, green }]);
    expect(rules.map(({ text }) => text)).toEqual(['// Parcels over 20 kg are refused.']);
  });

  it('HN-11 finds nothing if no line mentions such a name', () => {
    expect(findRules([file], [{ path: 'README.md', text: 'Stamps are sold at noon.\n' }])).toEqual([]);
  });
});

it('HN-11 shows the reviewer the last green state, including uncommitted changes', async () => {
  const { dir, write, git } = gitRepository({
    '.gitignore': '.self-heal/\n',
    'src/fee.ts': 'old();\n',
    'RULES.md': '',
  });
  write({ 'src/fee.ts': green, 'RULES.md': 'Parcels over 20 kg are refused by fee.\n' });
  const tests = [aReportTest({ id: 't1', verdict: 'passed' })];
  const runDir = leaveRun(dir, aReport({ commit: null, causes: [], tests }));
  await storeTreeState(runDir, dir);
  write({ 'src/fee.ts': now });
  const contents = openContentStore(runDir);
  const stateOf = async (text: string) =>
    ({ kind: 'file', mode: 0o644, hash: await contents.put(Buffer.from(text)) }) as const;
  const edits = [{ path: 'src/fee.ts', before: await stateOf(red), after: await stateOf(now) }];
  const cause = { lead: failing('t1') };
  const told = await gatherFix(
    { root: dir, cwd: dir, contents, clean: (text) => text },
    { cause, edits, patch: '', ran: [], facts: [] },
  );
  expect(told.green).toBe(git('rev-parse', 'HEAD'));
  expect(told.code[0]?.green).toContain('weight > 20');
  expect(told.culprit).toMatchObject({ isProven: false, hunks: [{ file: 'src/fee.ts' }] });
  expect(told.rules).toContainEqual(expect.objectContaining({ file: 'RULES.md', hasChanged: false }));
});

it('HN-11 shows the whole test, but not the other tests of a long file', () => {
  const others = Array.from(
    { length: 40 },
    (_, n) => `test('other ${n}', async () => {\n  ${'await step();'.repeat(8)}\n});\n`,
  );
  const wanted = `test('refuses', async ({ page }) => {\n  await page.goto('/');\n\n  await expect(page).toHaveTitle('x');\n});`;
  const spec = `${others.join('')}${wanted}\n${others.join('')}`;
  const line = spec.split('\n').findIndex((text) => text.includes("'refuses'")) + 1;
  expect(readTestSource('a.spec.ts', spec, line)).toBe(wanted);
  expect(readTestSource('a.spec.ts', `${wanted}\n`, 1)).toBe(`${wanted}\n`);
});

it('HN-11 reports an error that remains when the test is green, and whether the test names it', () => {
  const fact = 'passes although the console still says: Failed to load order 404';
  expect(noteIfTestNamesError(fact, "expect(status).toBe(404); // 'Failed to load order'")).toBe(
    `${fact} (the test names it)`,
  );
  expect(noteIfTestNamesError(fact, 'expect(total).toBe(3);')).toBe(`${fact} (the test does not name it)`);
  expect(noteIfTestNamesError('the fix undoes a change from abc', 'x')).toBe(
    'the fix undoes a change from abc',
  );
});
