import { expect, it } from 'vitest';
import { ignoresFolder, withIgnoreEntry } from '../../../src/init/plan-init.js';

it.each([
  '.self-heal/',
  '.self-heal',
  '/.self-heal/',
  '**/.self-heal/',
  'a\r\n.self-heal/\r\nb',
  '.self-heal/**',
  ' .self-heal/ ',
])('CL-10 %j already ignores the folder', (text) => {
  expect(ignoresFolder(text)).toBe(true);
});

it.each([
  '',
  '# .self-heal/',
  '.self-heal/latest',
  'x/.self-heal/',
  '.self-heal/\n!.self-heal/',
  '.self-heals/',
])('CL-10 %j does not ignore the folder', (text) => {
  expect(ignoresFolder(text)).toBe(false);
});

it.each([
  ['', '.self-heal/\n'],
  ['a\n', 'a\n.self-heal/\n'],
  ['a', 'a\n.self-heal/\n'],
  ['a\r\nb\r\n', 'a\r\nb\r\n.self-heal/\r\n'],
  ['a\r\nb', 'a\r\nb\r\n.self-heal/\r\n'],
])('CL-10 %j with the entry added is %j', (before, after) => {
  expect(withIgnoreEntry(before)).toBe(after);
  expect(ignoresFolder(after)).toBe(true);
});
