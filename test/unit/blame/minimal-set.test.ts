import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minimalSet, type Outcome } from '../../../src/blame/minimal-set.js';

/** Runs each set once, however often it is asked for, and no more than `limit` sets. */
function counted(outcome: (out: ReadonlySet<number>) => Outcome, limit = Infinity) {
  const seen = new Map<string, Outcome>();
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

describe('the smallest set', () => {
  it('BL-1 is the planted one, whatever its size and position', async () => {
    await fc.assert(
      fc.asyncProperty(planted, fc.integer({ min: 1, max: 9 }), async ([count, culprits], size) => {
        const { test } = counted((out) => (culprits.every((one) => out.has(one)) ? 'green' : 'red'));
        const apart = (one: number, next: number) =>
          Math.floor(one / size) === Math.floor(next / size) ? 0 : 2;
        const found = await minimalSet(numbers(count), { test, apart });
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
        const found = await minimalSet(numbers(count), { test, apart: flat });
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
        const found = await minimalSet(numbers(count), { test, apart: flat });
        expect(found).toEqual({ set: [culprit], isMinimal: true });
        expect(runs()).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 2);
      }),
    );
  });

  it('BL-2 never takes more runs than its limit, and the set that it has by then is green', async () => {
    await fc.assert(
      fc.asyncProperty(planted, fc.integer({ min: 1, max: 12 }), async ([count, culprits], limit) => {
        const isGreen = (out: ReadonlySet<number>) => culprits.every((one) => out.has(one));
        const { test, runs } = counted((out) => (isGreen(out) ? 'green' : 'red'), limit);
        const found = await minimalSet(numbers(count), { test, apart: flat });
        expect(runs()).toBeLessThanOrEqual(limit);
        expect(isGreen(new Set(found!.set))).toBe(true);
      }),
    );
  });

  it('BL-1 does not exist if reverting everything is red or unresolved, which takes one run', async () => {
    for (const outcome of ['red', 'unresolved'] as const) {
      const { test, runs } = counted(() => outcome);
      expect(await minimalSet(numbers(40), { test, apart: flat })).toBeNull();
      expect(runs()).toBe(1);
    }
  });

  it('BL-1 is searched by splitting between commits first, then between files', async () => {
    const asked: number[] = [];
    const { test } = counted((out) => {
      asked.push(out.size);
      return out.has(13) ? 'green' : 'red';
    });
    // Commits of ten, files of five.
    const apart = (one: number, next: number) =>
      Math.floor(one / 10) < Math.floor(next / 10) ? 2 : Math.floor(one / 5) < Math.floor(next / 5) ? 1 : 0;
    await minimalSet(numbers(40), { test, apart });
    expect(asked.slice(0, 4)).toEqual([40, 20, 10, 15]);
  });
});
