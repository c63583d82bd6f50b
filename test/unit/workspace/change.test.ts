import { expect, it } from 'vitest';
import { safePath } from '../../../src/workspace/change.js';

it.each([
  ['', 'empty'],
  ['/etc/passwd', 'absolute'],
  ['../a', 'above'],
  ['a/../../b', 'above'],
  ['a/./b', 'a dot'],
  ['a//b', 'an empty part'],
  ['a\\b', 'a backslash'],
  ['a\0b', 'NUL'],
  ['a\u001B]52;c;x\u0007b', 'a control code'],
  ['.git/config', 'a repository'],
  ['lib/.GIT/config', 'in another case'],
  ['.git /config', 'NTFS drops spaces at the end'],
  ['.git./config', 'NTFS drops dots at the end'],
  ['.git . ./config', 'NTFS drops both'],
  ['.git::$INDEX_ALLOCATION/config', 'an NTFS stream'],
  ['git~1/config', 'a short name on NTFS'],
  ['GIT~2/config', 'a short name on NTFS'],
  ['.g\u200Cit/config', 'HFS+ ignores a zero-width character'],
  ['\uFEFF.git/config', 'HFS+ ignores a byte order mark'],
  ['.self-heal/journal.json', 'self-heal'],
  ['.\u017Felf-heal/journal.json', 'a long s is an s'],
  ['SELF-H~1/journal.json', 'a short name on NTFS'],
  ['a/node_modules/b/index.js', 'installed packages'],
  ['NODE_M~1/b/index.js', 'a short name on NTFS'],
  ['.. /a', 'NTFS drops spaces at the end'],
  ['..\u200C/a', 'HFS+ ignores a zero-width character'],
])('HN-10 HN-1 the path %j cannot be written (%s)', (file) => {
  expect(safePath.safeParse(file).success).toBe(false);
});

it.each([
  'a.ts',
  '.gitignore',
  '.github/workflows/ci.yml',
  '.git-blame-ignore-revs',
  'app/[...slug]/page.tsx',
  'größe/ein Name.ts',
  'git~/x',
  'digit~1',
  'a:b',
])('HN-1 the path %j can be written', (file) => expect(safePath.safeParse(file).success).toBe(true));
