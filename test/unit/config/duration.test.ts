import { describe, expect, it } from 'vitest';
import { durationMistake, parseDuration } from '../../../src/config/duration.js';

describe('CF-1 durations', () => {
  it.each([
    ['5m', 300_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1h2m3s4ms', 3_723_004],
    ['0s', 0],
    ['5m500ms', 300_500],
  ])('CF-1 %s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', '5 m', 'm', '5M', '-5m', '1.5h', '30m1h', '5m5m', '5d', '5m ', '1e3ms', '٥m'])(
    'CF-3 %j is not a duration',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});

it.each([
  [300, 'needs a unit: write 300s or 300m'],
  ['5 minutes', 'did you mean "5m"?'],
  ['90 sec', 'did you mean "90s"?'],
  ['1 hour, 30 minutes', 'did you mean "1h30m"?'],
  ['30m1h', 'must be a duration such as 5m, 90s, 1h30m, 500ms'],
  ['5 toString', 'must be a duration such as 5m, 90s, 1h30m, 500ms'],
])('CF-3 what is meant by %j: %s', (value, words) => {
  expect(durationMistake(value)).toContain(words);
});
