import { expect, it } from 'vitest';
import { safePath } from '../../../src/workspace/safe-path.js';

it.each([
  ['', 'empty'],
  ['/etc/passwd', 'absolute'],
  ['../a', 'above'],
  ['a/../../b', 'above'],
  ['a\\b', 'a backslash'],
  ['a\0b', 'NUL'],
  ['a\u001B]52;c;x\u0007b', 'a control code'],
  ['.git/config', 'a repository'],
  ['.git /config', 'NTFS drops spaces at the end'],
  ['.git::$INDEX_ALLOCATION/config', 'an NTFS stream'],
  ['GIT~2/config', 'a short name on NTFS'],
  ['.g\u200Cit/config', 'HFS+ ignores a zero-width character'],
  ['.self-heal/journal.json', 'self-heal'],
  ['a/node_modules/b/index.js', 'installed packages'],
  ['NODE_M~1/b/index.js', 'a short name on NTFS'],
  ['..\u200C/a', 'HFS+ ignores a zero-width character'],
])('HN-10 HN-1 the path %j cannot be written (%s)', (file) => {
  expect(safePath.safeParse(file).success).toBe(false);
});

it.each([
  'a.ts',
  '.gitignore',
  '.github/workflows/ci.yml',
  'app/[...slug]/page.tsx',
  'größe/ein Name.ts',
  'git~/x',
  'a:b',
])('HN-1 the path %j can be written', (file) => expect(safePath.safeParse(file).success).toBe(true));
