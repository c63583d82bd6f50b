import { expect, it } from 'vitest';
import { Newest } from '../../../src/evidence/newest.js';

it.each([
  [1, 5, [4]],
  [3, 2, [0, 1]],
  [3, 100, [97, 98, 99]],
])('EV-11 a ring with room for %d keeps the last of %d entries', (limit, pushes, expected) => {
  const ring = new Newest<number>(limit);
  for (let at = 0; at < pushes; at += 1) ring.push(at);
  expect(ring.entries()).toEqual(expected);
  expect(ring.pushed).toBe(pushes);
  expect(ring.dropped).toBe(pushes - expected.length);
});

it('EV-3 a ring keeps the first precious entries as well', () => {
  const ring = new Newest<number>(2, (entry) => entry % 10 === 0, 3);
  for (let at = 1; at <= 95; at += 1) ring.push(at);
  expect(ring.entries()).toEqual([10, 20, 30, 94, 95]);
});
