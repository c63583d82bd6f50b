import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../../src/clients/publish/answer-comment.js';
import {
  type PublishedFile,
  applyToContent,
  readFix,
  listReplacements,
  isPlainText,
  renderSuggestion,
} from '../../../../src/clients/publish/fix.js';
import { protectedFiles } from '../../../rig/protected-files.js';
import { listShownLines } from '../../../../src/clients/publish/github.js';

const index = `index ${'1'.repeat(40)}..${'2'.repeat(40)}\n`;

function patchOf(file: string, body: string, head = ''): string {
  return `diff --git a/${file} b/${file}\n${head}${index}--- ${head.includes('new file') ? '/dev/null' : `a/${file}`}\n+++ b/${file}\n${body}`;
}

const changed = '@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n';

function only(patch: string) {
  const read = readFix(Buffer.from(patch));
  if (!read.ok) throw new Error(read.error);
  const [file] = read.value;
  if (!file) throw new Error('no file');
  return file;
}

describe('a fix from an untrusted source', () => {
  it.each([
    ['outside of the repository', patchOf('../../etc/cron.d/x', changed)],
    ['in git', patchOf('.git/hooks/pre-commit', changed)],
    ['a link', patchOf('a.ts', '@@ -0,0 +1,1 @@\n+x\n', 'new file mode 120000\n')],
    ['binary', 'diff --git a/a.png b/a.png\nindex 0..1\nGIT binary patch\nliteral 1\nIcmV\n'],
    ['none', 'diff --git\n@@ -1,2 nonsense'],
    ['without the ids of its contents', patchOf('a.ts', changed).replace(index, '')],
    ['named in escapes', patchOf('a.ts', changed).replaceAll(/([ab])\/a\.ts/g, '"$1/gr\\303\\266n.ts"')],
    ['named with a tab and a second name', patchOf('a.ts\tb.ts', changed)],
    ['named with a hidden character', patchOf('a\ufe01.ts', changed)],
  ])('PB-5 is refused if it is %s', (_, patch) => {
    expect(readFix(Buffer.from(patch)).ok).toBe(false);
  });

  it.each([...protectedFiles, 'package.json', 'api/package.json', 'pnpm-lock.yaml', 'web/yarn.lock'])(
    'PB-5 is refused if it changes %s',
    (file) => {
      expect(readFix(Buffer.from(patchOf(file, changed))).ok).toBe(false);
    },
  );

  it('PB-5 keeps the file names that it shows, including non-ASCII letters', () => {
    expect(only(patchOf('größe/Ж.ts', changed)).path).toBe('größe/Ж.ts');
  });

  it('PB-5 may change only the mode of a file', () => {
    const file = only('diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n');
    expect(file).toMatchObject({ path: 'run.sh', isExecutable: true, blobs: null });
  });

  it('PB-5 applies only to the files that it was made for', () => {
    const file = only(patchOf('a.ts', changed));
    expect(String(applyToContent(file, Buffer.from('one\ntwo\nthree\n')))).toBe('one\nzwei\nthree\n');
    expect(applyToContent(file, Buffer.from('one\n2\nthree\n'))).toBe('conflict');
    expect(applyToContent(file, null)).toBe('conflict');
    const created = only(patchOf('a.ts', '@@ -0,0 +1,1 @@\n+größe\n', 'new file mode 100755\n'));
    expect(String(applyToContent(created, null))).toBe('größe\n');
    expect(created.isExecutable).toBe(true);
    expect(applyToContent(created, Buffer.from(''))).toBe('conflict');
  });

  it('PB-5 keeps bytes that are not UTF-8, and does not suggest them', () => {
    const patch = Buffer.from(patchOf('a.ts', '@@ -1,1 +1,1 @@\n-caf\xe9 1\n+caf\xe9 2\n'), 'latin1');
    const [file] = (readFix(patch) as { value: readonly PublishedFile[] }).value;
    expect(file && applyToContent(file, Buffer.from('caf\xe9 1\n', 'latin1'))).toEqual(
      Buffer.from('caf\xe9 2\n', 'latin1'),
    );
    expect(file && listReplacements(file).map(({ lines }) => isPlainText(lines.join()))).toEqual([false]);
  });
});

it.each([
  ['a line', changed, [{ first: 2, last: 2, lines: ['zwei'] }]],
  ['lines that come', '@@ -4,2 +4,3 @@\n a\n+b\n c\n', [{ first: 4, last: 4, lines: ['a', 'b'] }]],
  [
    'two places',
    '@@ -1,3 +1,3 @@\n-a\n+A\n b\n-c\n+C\n',
    [
      { first: 1, last: 1, lines: ['A'] },
      { first: 3, last: 3, lines: ['C'] },
    ],
  ],
])('PB-2 suggests %s in its place', (_, hunks, expected) => {
  expect(listReplacements(only(patchOf('a.ts', hunks)))).toEqual(
    expected.map((one) => ({ path: 'a.ts', ...one })),
  );
});

it('PB-2 a suggestion ends at its own fence; a patch with invisible text is not suggested', () => {
  const one = { path: 'a.md', first: 1, last: 1, lines: ['```', 'x'] };
  expect(renderSuggestion(one, 'suggestion')).toMatch(/\n````suggestion\n```\nx\n````$/);
  expect(isPlainText('a\tb\r\n// c /x/ y\n')).toBe(true);
  expect(isPlainText(`${' '.repeat(60)}indented\n${'| cell '.repeat(40)}`)).toBe(true);
});

it.each([
  ['reordered', 'a\u202Eb'],
  ['not UTF-8', 'caf\ufffd'],
  ['behind a gap', `a${' '.repeat(120)}b`],
  ['behind several gaps', `a${' '.repeat(119)};${' '.repeat(119)};${' '.repeat(119)}b`],
  ['behind tabs', `a${'\t'.repeat(20)}b`],
  ['a command of a bot', 'a\n/approve\nb'],
  ['a variation selector', 'a\ufe00b'],
  ['a tag', 'a\u{e0041}b'],
])('PB-5 does not offer a text in which something is %s', (_, hidden) => {
  expect(isPlainText(hidden)).toBe(false);
});

it('PB-2 only lines in the diff of a change can have a suggestion', () => {
  const diff = '@@ -1,2 +10,3 @@\n a\n-b\n+c\n+d\n@@ -9 +20 @@\n-x\n+y';
  expect([...listShownLines(diff)]).toEqual([10, 11, 12, 20]);
  expect([...listShownLines(diff, '+')]).toEqual([11, 12, 20]);
});

it.each([
  ['/self-heal apply', { kind: 'apply' }],
  ['/self-heal retry\r\nthanks', { kind: 'retry' }],
  ['/self-heal  skip 30d ', { kind: 'skip', days: 30 }],
  ['/self-heal skip 0d', null],
  ['please /self-heal apply', null],
])('PB-4 reads %j', (comment, word) => {
  expect(parseCommand(comment)).toEqual(word);
});
