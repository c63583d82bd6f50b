import { describe, expect, it } from 'vitest';
import { closest } from '../../../src/config/closest.js';
import { categories } from '../../../src/core/diagnosis.js';

describe('CF-3 what a mistyped word most likely meant', () => {
  it.each([
    ['runtime-eror', 'runtime-error'],
    ['runtme-error', 'runtime-error'],
    ['runtime-errro', 'runtime-error'],
    ['runtime_error', 'runtime-error'],
    ['RuntimeError', 'runtime-error'],
    ['runtime', 'runtime-error'],
    ['ui', 'ui-error'],
    ['u-error', 'ui-error'],
    ['netwrok-error', 'network-error'],
    ['unkown', 'unknown'],
    ['flaky', null],
    ['x', null],
    ['', null],
    ['-', null],
  ])('CF-3 %j → %j', (word, meant) => {
    expect(closest(word, categories)).toBe(meant);
  });

  it('CF-3 counts two swapped letters as one typo', () => {
    // Two substitutions would be too many in so short a word.
    expect(closest('amx', ['max'])).toBe('max');
    expect(closest('axx', ['max', 'bxx'])).toBe('bxx');
  });

  it('CF-3 chooses the nearest word, and the first of equally near ones', () => {
    expect(closest('agentRun', ['agentRunsPerTest', 'agentRuns'])).toBe('agentRuns');
    expect(closest('cat', ['bat', 'hat'])).toBe('bat');
  });

  it('CF-3 is not slowed down by a word of a million letters', () => {
    expect(closest('r'.repeat(1_000_000), categories)).toBeNull();
  });
});
