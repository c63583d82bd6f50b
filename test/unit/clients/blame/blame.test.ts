import { rmSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareFile, revertHunks } from '../../../../src/workspace/hunks.js';
import { compareWithState, storeTreeState } from '../../../../src/run/tree-state.js';
import { compareFiles } from '../../../../src/workspace/candidates.js';
import { createLastGreenLookup } from '../../../../src/run/last-green.js';
import { type SetOutcome, findMinimalSet } from '../../../../src/minimal-set.js';
import { findRevertedHunks } from '../../../../src/heal/attempt/reverted-hunks.js';
import { hasAppChanged } from '../../../../src/heal/attempt/since-green.js';
import { describeRevert, findRevert } from '../../../../src/heal/attempt/find-revert.js';
import { certain, type EvidenceSource, type Reason } from '../../../../src/model/diagnosis.js';
import { isOwnAssertion } from '../../../../src/heal/own-assertion.js';
import type { Session } from '../../../../src/heal/session.js';
import { openContentStore } from '../../../../src/workspace/change.js';
import { readHead } from '../../../../src/workspace/git.js';
import type { Report } from '../../../../src/run/report.js';
import { aReport, aReportAttempt, aReportCause, aReportTest } from '../../../rig/a-report.js';
import { aCause, aDiagnosis, anError, aTestFailure, failing } from '../../../rig/builders.js';
import { writeStoredRun } from '../../../rig/events-of-report.js';
import { gitRepository } from '../../../rig/git-repository.js';
import { jsonLines } from '../../../rig/json-lines.js';

/** Runs each set once, however often it is asked for, and no more than `limit` sets. */
function counted(outcome: (out: ReadonlySet<number>) => SetOutcome, limit = Infinity) {
  const seen = new Map<string, SetOutcome>();
  const test = async (out: readonly number[]) => {
    const key = out.toSorted((a, b) => a - b).join();
    const known = seen.get(key);
    if (known) return known;
    if (seen.size >= limit) return null;
    const now = outcome(new Set(out));
    seen.set(key, now);
    return now;
  };
  return { test, runs: () => seen.size };
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const flat = () => 0;
const planted = fc
  .integer({ min: 1, max: 120 })
  .chain((count) =>
    fc.tuple(
      fc.constant(count),
      fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { minLength: 1, maxLength: 4 }),
    ),
  );

describe('the smallest set of changes to blame', () => {
  it('BL-1 is the planted set of any size at any position', async () => {
    await fc.assert(
      fc.asyncProperty(planted, fc.integer({ min: 1, max: 9 }), async ([count, culprits], size) => {
        const { test } = counted((out) => (culprits.every((one) => out.has(one)) ? 'green' : 'red'));
        const distance = (one: number, next: number) =>
          Math.floor(one / size) === Math.floor(next / size) ? 0 : 2;
        const found = await findMinimalSet(numbers(count), { test, distance });
        expect(found?.isMinimal).toBe(true);
        expect(found?.set.toSorted((a, b) => a - b)).toEqual(culprits.toSorted((a, b) => a - b));
      }),
    );
  });

  it('BL-1 is minimal even if states with only half of a pair are unresolved', async () => {
    await fc.assert(
      fc.asyncProperty(planted, fc.infiniteStream(fc.nat()), async ([count, culprits], random) => {
        // A definition and its use: without one of the two the project does not build.
        const any = () => Number(random.next().value) % count;
        const pairs = numbers(Math.min(5, Math.floor(count / 2))).map(() => ({ a: any(), b: any() }));
        const builds = (out: ReadonlySet<number>) => pairs.every(({ a, b }) => out.has(a) === out.has(b));
        const isGreen = (out: ReadonlySet<number>) => builds(out) && culprits.every((one) => out.has(one));
        const { test } = counted((out) => (isGreen(out) ? 'green' : builds(out) ? 'red' : 'unresolved'));
        const found = await findMinimalSet(numbers(count), { test, distance: flat });
        expect(found?.isMinimal).toBe(true);
        const set = new Set(found!.set);
        expect(isGreen(set)).toBe(true);
        for (const one of set) {
          expect(isGreen(new Set([...set].filter((other) => other !== one)))).toBe(false);
        }
      }),
    );
  });

  it('BL-2 a single culprit takes at most log₂ n + 2 runs, including the first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1000 }), fc.nat(), async (count, at) => {
        const culprit = at % count;
        const { test, runs } = counted((out) => (out.has(culprit) ? 'green' : 'red'));
        const found = await findMinimalSet(numbers(count), { test, distance: flat });
        expect(found).toEqual({ set: [culprit], isMinimal: true });
        expect(runs()).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 2);
      }),
    );
  });

  it('BL-2 keeps to its limit of runs, and the set found by then turns the test green', async () => {
    await fc.assert(
      fc.asyncProperty(planted, fc.integer({ min: 1, max: 12 }), async ([count, culprits], limit) => {
        const isGreen = (out: ReadonlySet<number>) => culprits.every((one) => out.has(one));
        const { test, runs } = counted((out) => (isGreen(out) ? 'green' : 'red'), limit);
        const found = await findMinimalSet(numbers(count), { test, distance: flat });
        expect(runs()).toBeLessThanOrEqual(limit);
        expect(isGreen(new Set(found!.set))).toBe(true);
      }),
    );
  });

  it('BL-1 does not exist if reverting everything is red or unresolved, known after one run', async () => {
    for (const outcome of ['red', 'unresolved'] as const) {
      const { test, runs } = counted(() => outcome);
      expect(await findMinimalSet(numbers(40), { test, distance: flat })).toBeNull();
      expect(runs()).toBe(1);
    }
  });
});

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '}', ''), { maxLength: 12 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''));

const numbered = (...lines: (string | number)[]) => lines.map((one) => `${one}\n`).join('');

describe('hunks of a file', () => {
  it('BL-1 reverting all gives the old file, reverting none the new one', () => {
    fc.assert(
      fc.property(fc.option(text), fc.option(text), (before, after) => {
        const file = compareFile('a.ts', before, after);
        expect(revertHunks(file, new Set(file.hunks))).toBe(before);
        expect(revertHunks(file, new Set())).toBe(after);
      }),
    );
  });

  it('BL-1 merges changes separated only by a brace, and splits those with code between them', () => {
    const before = numbered(1, '}', 3, 4, 5, 6, 7);
    const file = compareFile('a.ts', before, numbered('one', '}', 'three', 4, 'five', 6, 'seven'));
    expect(file.hunks.map(({ old, now, newStart }) => ({ old, now, newStart }))).toEqual([
      { old: ['1\n', '}\n', '3\n'], now: ['one\n', '}\n', 'three\n'], newStart: 1 },
      { old: ['5\n'], now: ['five\n'], newStart: 5 },
      { old: ['7\n'], now: ['seven\n'], newStart: 7 },
    ]);
    expect(revertHunks(file, new Set(file.hunks.slice(0, 1)))).toBe(
      numbered(1, '}', 3, 4, 'five', 6, 'seven'),
    );
  });

  it('BL-1 an added or binary file is one hunk', () => {
    expect(compareFile('a.ts', null, numbered(1, 2)).hunks).toMatchObject([{ whole: true }]);
    expect(compareFile('a.png', '\0a\nb\nc', '\0x\nb\ny').hunks).toMatchObject([{ whole: true }]);
  });
});

const file = 'src/basket.js';

/** What a fix takes back of a change of a file from `old` to `now`. */
function taken(old: string | null, now: string | null, fixed: string | null) {
  return findRevertedHunks({ path: file, green: old, red: now, now: fixed }).map(({ isWhole, texts }) => ({
    isWhole,
    texts,
  }));
}

/** A change that its author meant, and that change mended or followed by an honest fix. */
interface Intended {
  readonly old: string;
  readonly now: string;
  readonly mended: string;
}
const intended = jsonLines<Intended>(import.meta.dirname, 'intended-changes.jsonl');

const refused = 'Error: expect(received).toBe(expected)\n\nExpected: 404\nReceived: 422';

describe('BL-6 the part of an author’s change that a fix reverts', () => {
  it.each(intended)('BL-6 covers all of $what', ({ old, now }) => {
    const respaced = old.replaceAll('"', "'").replaceAll(';', '').replaceAll('\n', '  \n');
    for (const fixed of [old, respaced]) expect(taken(old, now, fixed)).toMatchObject([{ isWhole: true }]);
  });

  it.each(intended)('BL-6 covers nothing of $what that the fix mends', ({ old, now, mended }) => {
    expect(taken(old, now, mended)).toEqual([]);
    expect(taken(old, now, `${now}// and more\n`)).toEqual([]);
  });

  const [old, now] = ['one\ntwo\nthree\nfour\nfive\nsix\n', '1 one\ntwo\nthree\nfour\nfive\n6 six\n'];
  it('BL-6 includes each reverted change, even among other changes in the file', () => {
    expect(taken(old, now, now.replace('1 one', 'one'))).toMatchObject([{ isWhole: true }]);
    expect(taken(old, now, old)).toMatchObject([{ isWhole: true }, { isWhole: true }]);
  });

  it('BL-6 names the texts and the markup that the fix brings back', () => {
    const was = '<p class="hint" data-testid="empty">Your basket is empty</p>\n';
    const is = '<section><p class="quiet">Nothing in here yet</p></section>\n';
    const fixed = '<section><p class="quiet">Your basket is empty</p></section>\n';
    expect(taken(was, is, fixed)).toEqual([{ isWhole: false, texts: ['Your basket is empty'] }]);
  });

  it.each([
    ['a\nb\n', 'undoes a change from abc1234'],
    ['a\nnow two\n', 'undoes part of a change from abc1234'],
  ])('BL-6 is described as all or part of a change: %j', (after, words) => {
    const hunks = taken('a\nb\n', 'now one\nnow two\n', after);
    expect(describeRevert({ commits: 'abc1234', hunks })).toBe(words);
  });

  it('BL-6 excludes a line that the fix adds elsewhere', () => {
    const was = 'if a:\n  return 1\nb()\nc()\nd()\n';
    expect(taken(was, 'if a:\nb()\nc()\nd()\n', 'if a:\nb()\nc()\nd()\n  return 1\n')).toEqual([]);
  });

  it('BL-6 includes a file that its author deleted or added', () => {
    expect(taken(old, null, old)).toMatchObject([{ isWhole: true }]);
    expect(taken(null, old, null)).toMatchObject([{ isWhole: true }]);
  });

  it('BL-6 excludes lines without a word', () => {
    expect(taken('a\n{\n\n}\n', 'a\n{\n}\n', 'a\n{\n\n}\n')).toEqual([]);
  });

  const asserted = 'Error: expect(received).toBe(expected)';
  const reason = (source: EvidenceSource, evidence: string): Reason => ({
    rule: 'r',
    category: 'network-error',
    source,
    evidence,
    confidence: certain,
  });
  it.each([
    ['asks', 'the status of an API’s response', asserted, [reason('network', 'GET /api/tea → 404')]],
    ['asks', 'the value that the test expects', asserted, [reason('error', asserted)]],
    ['asks', 'a refusal that the server logs', refused, [reason('server', 'Refused: no fish')]],
    ['asks', 'a word that the test types', `${asserted}\nExpected: "a"\nReceived: "b"\nundefined`, []],
    [
      'asks',
      'a page about missing values',
      `${asserted}\nExpected: "NaN is red"\nReceived: "NaN is blue"`,
      [],
    ],
    [
      'does not ask',
      'a value that is missing',
      `${asserted}\nExpected: "7 €"\nReceived: "NaN €"\nCall log:\n  - unexpected value "NaN €"`,
      [],
    ],
    [
      'does not ask',
      'an entry that is missing',
      `${asserted}\n- Expected\n+ Received\n\n-   "tea",\n+   "undefined",`,
      [],
    ],
    ['does not ask', 'an exception', asserted, [reason('console', 'Uncaught TypeError')]],
    ['does not ask', 'an error of the server', asserted, [reason('network', 'GET /api/tea → 500')]],
    ['does not ask', 'an error outside of assertions', 'Error: connect ECONNREFUSED', []],
  ] as const)('BL-6 %s in every class if the failure is decided by %s', (asks, _, message, why) => {
    const failure = aTestFailure({ errors: [anError(message)] });
    const diagnosis = aDiagnosis({ category: 'network-error', why });
    expect(isOwnAssertion({ failure, diagnosis })).toBe(asks === 'asks');
  });

  it('BL-6 is the whole change if the fix restores the old file, for any way to compare lines', () => {
    const [before, now] = ['a:\nb:\n  return 9;\n', 'a:\n  return 9;\nb:\n  return 12;\n'];
    for (const { isWhole } of taken(before, now, before)) expect(isWhole).toBe(true);
  });
});

describe('BL-6 the changes that a fix in a project reverts', () => {
  const cause = aCause({ lead: failing('t1') });

  /** A project whose last commit and whose working tree may differ from the first commit, with a fix of `app.py` in it. */
  async function fixedProject(...states: readonly Readonly<Record<string, string>>[]) {
    const { dir, write, ...repository } = gitRepository({ '.gitignore': '.self-heal/\n', ...states[0] });
    const runDir = path.join(dir, '.self-heal/runs/20260101-000000-0001');
    const contents = openContentStore(runDir);
    const stateOf = async (text: string) =>
      ({ kind: 'file', hash: await contents.put(Buffer.from(text)), mode: 0o644 }) as const;
    const session = {
      cwd: dir,
      workspace: { root: dir, listApplied: () => ['1'], listEditedFiles: () => new Set(['app.py']) },
      folder: { dir: runDir },
      isTest: (file: string) => file.startsWith('tests/'),
    } as unknown as Session;
    const fix = async (file: string, before: string, after: string) => {
      write({ [file]: after });
      const edits = [{ path: file, before: await stateOf(before), after: await stateOf(after) }];
      return findRevert(session, cause, { id: '1', edits, folders: [] });
    };
    return { ...repository, dir, write, session, fix };
  }

  it('BL-6 are named with commit and line, even if no search found what broke the test', async () => {
    const { commit, fix } = await fixedProject({ 'app.py': 'a = 1\nb = "héllo"\nc = 3\n' });
    commit({ 'app.py': 'a = 1\nb = "hé"\nc = 3\n' }, 'Shorter words');
    commit({ 'other.py': 'x' });
    const revert = await fix('app.py', 'a = 1\nb = "hé"\nc = 3\n', 'a = 1\nb = "héllo"\nc = 3\n');
    expect(revert).toMatchObject({
      commits: expect.stringMatching(/^[0-9a-f]{7} "Shorter words"$/) as unknown,
      at: { file: 'app.py', line: 2 },
      hunks: [{ isWhole: true, texts: ['héllo'] }],
    });
  });

  it('BL-6 name the commit that deleted a line', async () => {
    const { commit, fix } = await fixedProject({ 'app.py': 'a = 1\nb = "é"\nc = 3\n' });
    commit({ 'app.py': 'a = 1\nc = 3\n' }, 'Fewer words');
    const revert = await fix('app.py', 'a = 1\nc = 3\n', 'a = 1\nb = "é"\nc = 3\n');
    expect(revert?.commits).toContain('Fewer words');
  });

  it('BL-6 include uncommitted changes', async () => {
    const { write, fix } = await fixedProject({ 'app.py': 'a = 1\n' });
    write({ 'app.py': 'a = 2\n' });
    expect(await fix('app.py', 'a = 2\n', 'a = 1\n')).toMatchObject({ commits: 'uncommitted edits' });
  });

  it('BL-6 exclude tests, and lines that were the same when the test was green', async () => {
    const { dir, commit, fix } = await fixedProject({ 'app.py': 'a = 1\n', 'tests/a.ts': '1\n' });
    const green = commit({ 'app.py': 'a = 2\n' });
    writeStoredRun(
      dir,
      aReport({ causes: [], runId: '20260101-000000-0000', commit: green, tests: passed('t1') }),
    );
    commit({ 'tests/a.ts': '2\n' });
    expect(await fix('app.py', 'a = 2\n', 'a = 1\n')).toBeNull();
    expect(await fix('tests/a.ts', '2\n', '1\n')).toBeNull();
  });

  it('HL-10 the app has changed if a file changed that is neither a test nor edited by a fix', async () => {
    const { commit, write, session } = await fixedProject({ 'app.py': 'a = 1\n', 'tests/a.ts': '1\n' });
    commit({ 'tests/a.ts': '2\n' });
    write({ 'app.py': 'a = 2\n' });
    expect(await hasAppChanged(session, cause)).toBe(false);
    commit({ 'other.py': 'x' });
    expect(await hasAppChanged(session, cause)).toBe(true);
  });
});

const passed = (...ids: string[]) => ids.map((id) => aReportTest({ id, verdict: 'passed' }));

/** A repository in which runs leave their folders. */
function repository() {
  const { dir, git, write, commit: commitFiles } = gitRepository();
  write({ '.gitignore': '.self-heal/\n' });
  let n = 0;
  const commit = () => commitFiles({ 'app.ts': String((n += 1)) });
  let runs = 0;
  const run = (report: Partial<Report>) => {
    const runId = `20260101-000000-${String((runs += 1)).padStart(4, '0')}`;
    return writeStoredRun(dir, aReport({ causes: [], ...report, runId }));
  };
  return {
    dir,
    git,
    write,
    commit,
    run,
    state: (id: string) => createLastGreenLookup(dir)(failing(id)),
    lastGreen: async (id: string, needs: string[] = []) =>
      (await createLastGreenLookup(dir)({ ...failing(id), needs }))?.commit ?? null,
  };
}

it('BL-1 finds the last green commit of a test in the newest run that saw it pass', async () => {
  const { commit, run, lastGreen } = repository();
  const [one, two, three] = [commit(), commit(), commit()];
  run({ commit: one, tests: passed('a', 'b', 'c') });
  run({ commit: two, tests: passed('b') });
  run({ commit: three, tests: [aReportTest({ id: 'a', verdict: 'failed' }), ...passed('c')] });
  const found = await Promise.all(['a', 'b', 'c', 'new'].map((id) => lastGreen(id)));
  expect(found).toEqual([one, two, three, null]);
});

it('BL-1 ignores a run with uncommitted changes, and one that agents changed', async () => {
  const { dir, write, commit, run, lastGreen } = repository();
  const old = commit();
  expect(await readHead(dir)).toEqual({ commit: old, isDirty: false });
  write({ 'app.ts': 'other', 'new.ts': 'new' });
  expect((await readHead(dir)).isDirty).toBe(true);
  const now = commit();
  run({ commit: old, tests: passed('a') });
  run({ commit: null, tests: passed('a') });
  const causes = [aReportCause({ attempts: [aReportAttempt({ change: '1' })] })];
  run({ commit: now, causes, tests: passed('a') });
  expect(await lastGreen('a')).toBe(old);
  // An attempt that changed nothing does not matter.
  run({
    commit: now,
    causes: [aReportCause({ attempts: [aReportAttempt({ change: null })] })],
    tests: passed('a'),
  });
  expect(await lastGreen('a')).toBe(now);
});

it('BL-1 a green run with uncommitted changes is a green state that includes them', async () => {
  const { dir, write, commit, run, state } = repository();
  const head = commit();
  write({ 'app.ts': 'green\n', 'agents.yaml': 'version: 1\n' });
  const runDir = run({ commit: null, tests: passed('a') });
  await storeTreeState(runDir, dir);
  write({ 'app.ts': 'broken\n' });
  const green = await state('a');
  expect(green).toMatchObject({ commit: head, runDir });
  const changed = await compareWithState(dir, green!);
  if ('kind' in changed) throw new Error(changed.kind);
  const files = await compareFiles(
    changed,
    changed.changes.map((one) => one.path),
  );
  expect(files.filter(({ before, after }) => before !== after)).toMatchObject([
    { path: 'app.ts', before: 'green\n', after: 'broken\n' },
  ]);
});

it('BL-1 finds the last green commit of a test in a run that included the tests it needs', async () => {
  const { commit, run, lastGreen } = repository();
  const [one, two] = [commit(), commit()];
  run({ commit: one, tests: passed('a', 'before') });
  run({ commit: two, tests: passed('a') });
  expect(await lastGreen('a', ['before'])).toBe(one);
  expect(await lastGreen('a')).toBe(two);
});

it('BL-1 skips a commit of another branch or from before a rebase, and a run whose folder is gone', async () => {
  const { git, commit, run, lastGreen } = repository();
  const base = commit();
  git('checkout', '--quiet', '-b', 'other');
  const elsewhere = commit();
  git('checkout', '--quiet', 'main');
  const mine = commit();
  run({ commit: base, tests: passed('a') });
  const folder = run({ commit: mine, tests: passed('a') });
  run({ commit: elsewhere, tests: passed('a') });
  run({ commit: 'f'.repeat(40), tests: passed('a') });
  expect(await lastGreen('a')).toBe(mine);
  rmSync(folder, { recursive: true });
  expect(await lastGreen('a')).toBe(base);
  git('checkout', '--quiet', '--orphan', 'fresh');
  commit();
  expect(await lastGreen('a')).toBeNull();
});
