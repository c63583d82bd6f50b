import { expect, it } from 'vitest';
import { withIgnoreEntry } from '../../../src/init/plan-init.js';

it.each([
  ['', '.self-heal/\n'],
  ['a\n', 'a\n.self-heal/\n'],
  ['a', 'a\n.self-heal/\n'],
  ['a\r\nb\r\n', 'a\r\nb\r\n.self-heal/\r\n'],
  ['a\r\nb', 'a\r\nb\r\n.self-heal/\r\n'],
])('CL-10 %j with the entry added is %j', (before, after) => {
  expect(withIgnoreEntry(before)).toBe(after);
});
