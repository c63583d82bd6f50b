import { describe, expect, it } from 'vitest';
import type { Hunk } from '../../../src/core/blame.js';
import { compareFile } from '../../../src/blame/hunks.js';
import { undoing } from '../../../src/blame/undoing.js';
import { aBlamedHunk } from '../../rig/builders.js';
import { jsonLines } from '../../rig/json-lines.js';

const file = 'src/basket.js';

/** What a fix takes back of a commit that changed `old` to `now`; the test is green without the first `blamed` of its hunks. */
function taken(old: string, now: string, fixed: string | null, blamed = 1) {
  const shown = ({ old, now }: Hunk): Hunk => ({ file, old: old.map(trimmed), now: now.map(trimmed) });
  const all = compareFile(file, old, now).hunks.map(shown);
  const hunks = all.slice(0, blamed).map((one) => aBlamedHunk(one));
  return undoing({ hunks, rest: all.slice(blamed) }, [{ file, before: now, after: fixed }]);
}
const trimmed = (line: string) => line.replace(/\n$/, '');

/** A change that its author meant, and that change mended or followed by an honest fix. */
interface Intended {
  readonly old: string;
  readonly now: string;
  readonly mended: string;
}
const intended = jsonLines<Intended>(import.meta.dirname, 'intended-changes.jsonl');

describe('BL-6 what a fix takes back of an author’s change', () => {
  it.each(intended)('BL-6 is all of $what', ({ old, now }) => {
    expect(taken(old, now, old)).toMatchObject({ how: 'all', of: '3f2a91c "Faster carts"' });
    const respaced = old.replaceAll('"', "'").replaceAll(';', '').replaceAll('\n', '  \n');
    expect(taken(old, now, respaced)?.how).toBe('all');
  });

  it.each(intended)('BL-6 is nothing of $what that is mended', ({ old, now, mended }) => {
    expect(taken(old, now, mended)).toBeNull();
    expect(taken(old, now, `${now}// and more\n`)).toBeNull();
  });

  const [old, now] = ['one\ntwo\nthree\nfour\nfive\nsix\n', '1 one\ntwo\nthree\nfour\nfive\n6 six\n'];
  it('BL-6 is a part if other changes of the same commit stay, however few lines broke the test', () => {
    expect(taken(old, now, now.replace('1 one', 'one'))).toMatchObject({ how: 'part', isWhole: true });
    expect(taken(old, now, now.replace('6 six', 'six'))).toMatchObject({ how: 'part', isWhole: false });
    expect(taken(old, now, old)).toMatchObject({ how: 'all', isWhole: true });
  });

  it('BL-6 names the texts and the markup that it brings back', () => {
    const was = '<p class="hint" data-testid="empty">Your basket is empty</p>\n';
    const is = '<section><p class="quiet">Nothing in here yet</p></section>\n';
    const fixed = '<section><p class="quiet">Your basket is empty</p></section>\n';
    expect(taken(was, is, fixed)).toEqual({
      how: 'part',
      isWhole: false,
      of: '3f2a91c "Faster carts"',
      texts: ['Your basket is empty'],
    });
  });

  it('BL-6 is all of a file that was added, or deleted', () => {
    const added = [aBlamedHunk({ file, old: [], now: ['a line'], whole: true })];
    expect(undoing({ hunks: added, rest: [] }, [{ file, before: 'a line\n', after: null }])?.how).toBe('all');
    const deleted = [aBlamedHunk({ file, old: ['a line'], now: [], whole: true, commit: null })];
    const restored = [{ file, before: null, after: 'a line\n' }];
    expect(undoing({ hunks: deleted, rest: [] }, restored)).toMatchObject({
      how: 'all',
      of: 'what is not committed',
    });
  });

  it('BL-6 is nothing of a change to the tests, or in other files', () => {
    const hunk = { file, old: ['one'], now: ['two'] };
    const edited = [{ file, before: 'two\n', after: 'one\n' }];
    expect(undoing({ hunks: [aBlamedHunk({ ...hunk, inTests: true })], rest: [] }, edited)).toBeNull();
    expect(undoing({ hunks: [aBlamedHunk({ ...hunk, file: 'src/other.js' })], rest: [] }, edited)).toBeNull();
  });
});
