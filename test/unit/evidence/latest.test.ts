import { expect, it } from 'vitest';
import { Latest } from '../../../src/evidence/latest.js';

it.each([
  [0, 5, []],
  [3, 2, [0, 1]],
  [3, 100, [97, 98, 99]],
])('EV-11 a ring with a capacity of %d keeps the last of %d entries', (capacity, pushes, expected) => {
  const ring = new Latest<number>(capacity);
  for (let at = 0; at < pushes; at += 1) ring.push(at);
  expect(ring.toArray()).toEqual(expected);
  expect(ring.pushed).toBe(pushes);
});
