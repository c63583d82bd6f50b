import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeBounds,
  countNeededGreenRuns,
  countNeededRedRuns,
  isSurelyHigher,
  judgeCount,
  computeLowestRate,
} from '../../../src/model/failure-rate.js';

describe('a failure rate', () => {
  // R: binom.test(4, 30)$conf.int and so on.
  it.each([
    [0, 10, 0, 0.3085],
    [4, 30, 0.0376, 0.3072],
    [10, 10, 0.6915, 1],
    [7, 700, 0.004, 0.0205],
  ])('FL-1 has the exact Clopper-Pearson bounds: red %d of %d', (red, runs, low, high) => {
    const bounds = computeBounds({ red, runs });
    expect(bounds.low).toBeCloseTo(low, 3);
    expect(bounds.high).toBeCloseTo(high, 3);
  });

  it.each([
    [1, 1, 'open'],
    [0, 5, 'open'],
    [0, 40, 'green'],
    [5, 10, 'open'],
    [10, 20, 'flaky'],
    [5, 5, 'open'],
    [20, 20, 'always-red'],
  ] as const)('FL-1 is measured until its bounds suffice: red %d of %d is %s', (red, runs, shown) => {
    expect(judgeCount({ red, runs }, { look: 2, expected: 0.2 })).toBe(shown);
  });

  it.each([
    [4, 30, 96],
    [15, 30, 12],
    [1, 1, 90],
    [10, 10, 4],
    [0, 10, Infinity],
  ])('FL-4 determines how many green runs a proof needs: red %d of %d', (red, runs, greens) => {
    expect(countNeededGreenRuns({ red, runs })).toBe(greens);
  });

  // R: fisher.test(matrix(c(5, 0, 0, 5), 2), alternative = 'greater')$p.value is 0.004, and so on.
  it.each([
    [[5, 5], [0, 5], false],
    [[7, 7], [0, 7], true],
    [[10, 20], [0, 10], false],
    [[10, 20], [0, 20], true],
    [[20, 100], [10, 100], false],
    [[0, 100], [0, 100], false],
    [[0, 10], [10, 10], false],
  ] as const)('FL-2 is significantly higher than another: %j than %j is %s', (one, other, isSure) => {
    const count = ([red, runs]: readonly [number, number]) => ({ red, runs });
    expect(isSurelyHigher(count(one), count(other))).toBe(isSure);
  });

  it.each([
    [0, 0, 1],
    [1, 2, 7],
    [9, 10, 7],
    [1, 20, 2],
  ])(
    'HL-7 determines how many red runs a flaky test needs to be a fault: red %d of %d',
    (red, runs, reds) => {
      expect(countNeededRedRuns({ red, runs })).toBe(reds);
    },
  );

  it('FL-1 FL-4 is within its bounds, and a proof leaves at most 1 % to a test that still fails', () => {
    const count = fc
      .integer({ min: 1, max: 500 })
      .chain((runs) => fc.record({ runs: fc.constant(runs), red: fc.integer({ min: 0, max: runs }) }));
    fc.assert(
      fc.property(count, (one) => {
        const [bounds, wider] = [computeBounds(one), computeBounds(one, 0.01)];
        const rate = one.red / one.runs;
        expect(bounds.low).toBeLessThanOrEqual(rate + 1e-9);
        expect(bounds.high).toBeGreaterThanOrEqual(rate - 1e-9);
        expect(wider.low).toBeLessThanOrEqual(bounds.low);
        expect(wider.high).toBeGreaterThanOrEqual(bounds.high);
        const greens = countNeededGreenRuns(one);
        if (one.red === 0) expect(greens).toBe(Infinity);
        else expect((1 - computeLowestRate(one)) ** greens).toBeLessThanOrEqual(0.01 + 1e-9);
      }),
    );
  });
});
