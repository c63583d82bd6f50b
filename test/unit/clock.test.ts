import { expect, it, vi } from 'vitest';
import { systemClock } from '../../src/clock.js';

it('HN-9 the time of a run does not jump when the machine’s clock is set back or forward', () => {
  const before = systemClock.now();
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000);
  const set = vi.spyOn(Date, 'now');
  for (const hours of [-1, 24]) {
    set.mockReturnValue(before + hours * 3_600_000);
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    expect(systemClock.now()).toBeLessThan(before + 3_600_000);
  }
  set.mockRestore();
});
