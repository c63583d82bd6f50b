import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../../../src/workspace/candidates.js';
import type { ChangeHistory } from '../../../../src/clients/blame/history.js';
import type { DiagnosedFailure } from '../../../../src/model/cause.js';
import { type RelatedPosition, rateHunk } from '../../../../src/diagnose/likelihood.js';
import { Rounds, CauseSearch, type TestOutcome } from '../../../../src/clients/blame/search.js';
import { aDiagnosed, aDiagnosis, anError, failing } from '../../../rig/builders.js';
import { createRandom } from '../../../rig/simulated-suite.js';

/** A hunk of its own file, which a failure with its word names. */
function hunk(n: number, inTests = false): Candidate {
  const file = `src/file${n}.ts`;
  const exact = { file, old: [`was word${n}\n`], now: ['now\n'], oldStart: 1, newStart: 1, whole: false };
  return {
    hunk: exact,
    file: { path: file, before: '', after: '', hunks: [exact] },
    step: n % 7,
    inTests,
  };
}

function historyOf(count: number, from: ChangeHistory['base']['from'] = 'merge-base'): ChangeHistory {
  const candidates = Array.from({ length: count }, (_, n) => hunk(n));
  return { base: { commit: 'c0ffee', from }, candidates, commits: [], isComplete: true };
}

const all = (count: number) => Array.from({ length: count }, (_, at) => at);

/** What a run shows of a test, with the numbers of the hunks that are out. */
type Shows = (test: number, out: ReadonlySet<number>) => TestOutcome;

/** Searches for the causes of failures, each of which names some hunks; returns what was found and what each run took out. */
async function searched(
  count: number,
  named: readonly (readonly number[])[],
  shows: Shows,
  {
    from,
    near: relatedPositions = [],
    ...over
  }: Partial<DiagnosedFailure> & {
    from?: ChangeHistory['base']['from'];
    near?: readonly RelatedPosition[];
  } = {},
) {
  const history = historyOf(count, from);
  const numberOf = (one: Candidate) => history.candidates.indexOf(one);
  const searches = named.map((words, at) => {
    const lead = failing(`t${at}`, `missing ${words.map((n) => `word${n}`).join(' ')}`, over);
    return new CauseSearch(`c${at}`, lead, { history, readOlderHistory: async () => null, relatedPositions });
  });
  for (const search of searches) await search.advance();
  const rounds = new Rounds(searches);
  const runs: number[][] = [];
  /** The number of the run with which each search ended. */
  const ends: number[] = [];
  for (let round = rounds.next(searches); round; round = rounds.next(searches)) {
    const out = new Set([...round.reverted].map(numberOf));
    runs.push([...out].toSorted((a, b) => a - b));
    if (runs.length > 2_000) throw new Error('It does not end');
    for (const search of round.searches) {
      const at = searches.indexOf(search);
      await search.recordRun(round.reverted, shows(at, out));
      if (search.nextHunks === null) ends[at] = runs.length;
    }
  }
  const found = searches.map(({ culprits }) => culprits?.set.map(numberOf).toSorted((a, b) => a - b) ?? null);
  return { found, runs, ends, isMinimal: searches.map(({ culprits }) => culprits?.isMinimal) };
}

/** A cause to blame on some of forty hunks, and what its test shows when hunks are out. */
interface Broken {
  /** The hunks that its failure names. */
  readonly named: readonly number[];
  /** Without all hunks of one of these sets, its test is green. */
  readonly green: readonly (readonly number[])[];
  /** Without one of these alone, the test meets another error. */
  readonly half?: readonly number[];
  /** Without one of these, it meets another error whatever else is out. */
  readonly hidden?: readonly number[];
}

interface World {
  /** How many hunks there are; 40 by default. */
  readonly count?: number;
  readonly causes: readonly Broken[];
  /** Without one of these, nothing builds. */
  readonly unbuilt?: readonly number[];
  readonly over?: Parameters<typeof searched>[3];
  /** The hunks that are blamed for each cause; null if none are. */
  readonly found: readonly (readonly number[] | null)[];
  /** What each run takes out, or how many runs there are at most. */
  readonly runs: readonly (readonly number[])[] | number;
}

const isOut = (hunks: readonly number[], out: ReadonlySet<number>) => hunks.some((one) => out.has(one));

const nothing: Broken = { named: [], green: [] };

function showsOf({ causes, unbuilt = [] }: World): Shows {
  return (test, out) => {
    const { green, half = [], hidden = [] } = causes[test] ?? nothing;
    if (isOut(unbuilt, out)) return 'unresolved';
    if (isOut(hidden, out)) return 'other';
    if (green.some((set) => set.every((one) => out.has(one)))) return 'green';
    return isOut(half, out) ? 'other' : 'red';
  };
}

const allBut = (hunk: number) => all(40).filter((n) => n !== hunk);
const bySeven: Broken = { named: [7], green: [[7]] };
const wasGreen = { from: 'last-green' } as const;

const worlds: Record<string, World> = {
  'take out everything, then what the failure names, then all else': {
    causes: [bySeven],
    found: [[7]],
    runs: [all(40), [7], allBut(7)],
  },
  'take out first what is near the code that the failure is about': {
    causes: [{ named: [], green: [[7]] }],
    over: { near: [{ at: 'src/file7.ts:1', weight: 2 }] },
    found: [[7]],
    runs: [all(40), [7], allBut(7)],
  },
  'take out what the failure names first, where an earlier run was green without any change': {
    causes: [bySeven],
    over: wasGreen,
    found: [[7]],
    runs: [[7], allBut(7)],
  },
  'take out everything next if that is not it': {
    causes: [{ named: [7], green: [] }],
    over: wasGreen,
    found: [null],
    runs: [[7], all(40)],
  },
  'end after a run that is red without any change': {
    causes: [{ named: [7], green: [] }],
    found: [null],
    runs: [all(40)],
  },
  'do not repeat a run for a build error, which cannot come and go': {
    causes: [bySeven],
    over: { diagnosis: aDiagnosis({ category: 'build-error' }) },
    found: [[7]],
    runs: [all(40), [7]],
  },
  'repeat green and red runs if all other changes heal the test, too': {
    causes: [{ named: [7], green: [[7], [20]] }],
    found: [[7]],
    runs: [all(40), [7], allBut(7), [], [], [], [7], [7]],
  },
  'find a declaration and its use in different files of a commit': {
    causes: [{ named: [], green: [[9, 16]], half: [9, 16] }],
    found: [[9, 16]],
    runs: 12,
  },
  'repeat no green run before they have found the smallest set': {
    count: 3,
    causes: [{ named: [1], green: [[1, 2]], half: [1] }],
    found: [[1, 2]],
    runs: [all(3), [1], [0, 1], [2], [0, 2], [1, 2]],
  },
  'do not blame a hunk for what the hunk of another cause did': {
    causes: [
      { named: [2], green: [[5]] },
      { named: [5], green: [[5]] },
    ],
    found: [[5], [5]],
    runs: 10,
  },
  'rule out no other hunk by a build that breaks without one': {
    causes: [
      { named: [2, 9], green: [[9]] },
      { named: [5], green: [[5]] },
    ],
    unbuilt: [2],
    found: [[9], [5]],
    runs: 10,
  },
  'conclude nothing from another error while more is out': {
    causes: [
      { named: [2], green: [[2]], hidden: [5] },
      { named: [5], green: [[5]] },
    ],
    found: [[2], [5]],
    runs: 10,
  },
};

describe('the searches for the changes to blame', () => {
  it.each(Object.entries(worlds))('BL-1 BL-2 %s', async (_, world) => {
    const names = world.causes.map(({ named }) => named);
    const { found, runs } = await searched(world.count ?? 40, names, showsOf(world), world.over);
    expect(found).toEqual(world.found);
    if (typeof world.runs === 'number') expect(runs.length).toBeLessThanOrEqual(world.runs);
    else expect(runs).toEqual(world.runs);
  });

  it('BL-2 isolates one of seven commits in at most four runs before it searches for the lines', async () => {
    for (const culprit of [0, 6, 23, 38]) {
      const { runs } = await searched(40, [[]], (_, out) => (out.has(culprit) ? 'green' : 'red'));
      const commit = all(40).filter((n) => n % 7 === culprit % 7);
      expect(runs.slice(0, 5)).toContainEqual(commit);
    }
  });

  it('BL-1 hardly ever blames an innocent hunk for a test that is green in two of three runs', async () => {
    let wrong = 0;
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = createRandom(seed);
      const { found, isMinimal } = await searched(12, [[]], (_, out) =>
        out.has(11) || random() < 2 / 3 ? 'green' : 'red',
      );
      if (isMinimal[0] && !found[0]?.includes(11)) wrong += 1;
    }
    expect(wrong).toBeLessThanOrEqual(1);
  });

  it('BL-1 does not trust a single green run of a flaky test', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(39), fc.integer({ min: 0, max: 60 }), async (culprit, luckyRun) => {
        let run = 0;
        const { found } = await searched(40, [[]], (_, out) => {
          run += 1;
          return out.has(culprit) || run === luckyRun ? 'green' : 'red';
        });
        expect(found).toEqual([[culprit]]);
      }),
    );
  });

  it.each([
    [2, 5],
    [3, 5],
    [20, 11],
  ])('BL-2 finds the hunks of %d causes in %d shared runs', async (causes, most) => {
    const names = Array.from({ length: causes }, (_, at) => [at * 2]);
    const { found, runs } = await searched(40, names, (test, out) => (out.has(test * 2) ? 'green' : 'red'));
    expect(found).toEqual(names);
    expect(runs).toHaveLength(most);
  });

  it('BL-2 separates the first of twenty causes from all others in four runs', async () => {
    const names = Array.from({ length: 20 }, (_, at) => [at]);
    const { ends } = await searched(40, names, (test, out) => (out.has(test) ? 'green' : 'red'));
    expect(ends[0]).toBe(4);
  });

  it('BL-1 finds one culprit or a pair among causes that break each other’s builds', async () => {
    const cause = (count: number) =>
      fc.record({
        culprits: fc.uniqueArray(fc.nat(count - 1), { minLength: 1, maxLength: 2 }),
        named: fc.uniqueArray(fc.nat(count - 1), { maxLength: 3 }),
      });
    const planted = fc
      .integer({ min: 2, max: 60 })
      .chain((count) =>
        fc.tuple(
          fc.constant(count),
          fc.array(cause(count), { minLength: 1, maxLength: 6 }),
          fc.nat(count - 1),
        ),
      );
    await fc.assert(
      fc.asyncProperty(planted, async ([count, causes, needed]) => {
        const shows: Shows = (test, out) => {
          const culprits = causes[test]?.culprits ?? [];
          // One hunk is needed to build.
          if (out.has(needed) && !causes.some((one) => one.culprits.includes(needed)) && out.size < count)
            return 'unresolved';
          return culprits.every((one) => out.has(one)) ? 'green' : 'red';
        };
        const names = causes.map(({ named }) => named);
        const { found, isMinimal } = await searched(count, names, shows);
        for (const [at, { culprits }] of causes.entries()) {
          expect(isMinimal[at]).toBe(true);
          // What two hunks did together, one of them the other cause's, only runs with each alone would show.
          const taken = causes.flatMap((one, n) => (n === at ? [] : [...one.named, ...one.culprits]));
          if (culprits.length > 1 && culprits.some((one) => taken.includes(one))) continue;
          expect(found[at]).toEqual(culprits.toSorted((a, b) => a - b));
        }
      }),
      {
        // A hunk that is asked for alone by one search stood in the company of its partner, which another one asked for.
        examples: [
          [
            [
              35,
              [
                { culprits: [0], named: [0] },
                { culprits: [2, 3], named: [] },
                { culprits: [5], named: [1, 4, 34] },
              ],
              34,
            ],
          ],
        ],
      },
    );
  });
});

describe('the likelihood of a hunk, given a failure', () => {
  const place = { file: 'src/cart.ts', old: ['a\n'], now: ['b\n'], newStart: 12 };
  it.each([
    [
      'the compiler’s line',
      aDiagnosed({ failure: { scope: 'suite', errors: [], stderr: 'src/cart.ts(12,5): error TS2551' } }),
    ],
    [
      'a stack’s line',
      failing('t1', 'boom', {
        evidence: {
          ...failing('t1', 'boom').evidence,
          errors: [anError('boom', { stack: 'at x (/project/src/cart.ts:12:5)' })],
        },
      }),
    ],
    [
      'the source of the diagnosis',
      failing('t1', 'boom', {
        diagnosis: aDiagnosis({ facts: { ...aDiagnosis().facts, source: 'src/cart.ts:12:5' } }),
      }),
    ],
  ])('BL-2 is highest at %s, lower elsewhere in the file, and lowest in other files', (_, lead) => {
    const likely = rateHunk(lead);
    const rates = [place, { ...place, newStart: 90 }, { ...place, file: 'src/other.ts' }].map(likely);
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
    expect(new Set(rates).size).toBe(3);
  });

  it.each([
    ['test id', "getByTestId('cart-total')", "data-testid='basket-total'"],
    ['route', 'GET /api/invoices → 404', "route('/api/bills')"],
    ['column', 'column "zipcode" does not exist', 'SELECT postcode'],
    ['status', 'Expected: 201', '}, status=200)'],
  ])('BL-2 is higher where a %s that the failure names was added or removed', (_, says, now) => {
    const likely = rateHunk(failing('t1', says));
    expect(likely({ ...place, old: [`${says}\n`], now: [`${now}\n`] })).toBeGreaterThan(likely(place));
  });
});
