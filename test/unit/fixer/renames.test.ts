import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { blamedIn } from '../../../src/fixer/propose.js';
import { changesThatRemoved, hunksIn, renamedTo } from '../../../src/fixer/renames.js';
import { aBlame, aBlamedHunk } from '../../rig/builders.js';
import { gitRepository } from '../../rig/git-repository.js';

const hunk = (old: string[], now: string[], file = 'src/page.html') => ({ file, old, now });
const field = (id: string, testId: string) => `<input id="${id}" name="pay" data-testid="${testId}">`;

describe('the new name in a change', () => {
  it.each([
    ['an attribute', '<b data-testid="pay">', '<b data-testid="checkout-pay">', 'pay', 'checkout-pay'],
    ['one of several attributes', field('pay', 'pay'), field('pay', 'buy'), 'pay', 'buy'],
    ['all of several attributes', field('pay', 'pay'), field('buy', 'buy'), 'pay', 'buy'],
    ['a text', '  <button>Sign in</button>', '<button>Log in</button>', 'Sign in', 'Log in'],
    ['a text on a line of its own', '  Sign in', '  Log in', 'Sign in', 'Log in'],
    ['a text that got longer', '<button>Pay</button>', '<button>Pay now</button>', 'Pay', 'Pay now'],
    [
      'one of two changes in a line',
      '<b class="small" data-testid="pay">Pay</b>',
      '<b class="large" data-testid="buy">Pay</b>',
      'pay',
      'buy',
    ],
  ])('BF-2 is found for %s', (_, before, after, name, to) => {
    expect(renamedTo([hunk([before], [after])], name, ['other', to])).toEqual({ to, file: 'src/page.html' });
  });

  it.each([
    ['removed', [hunk(['<b id="pay">'], [])]],
    ['moved', [hunk(['<b id="pay">', '<i>'], ['<b id="buy">']), hunk([], ['  <b id="pay">'])]],
    ['given two names', [hunk(['<b id="pay">'], ['<b id="buy">', '<b id="other">'])]],
    ['part of another name', [hunk(['<b id="pay-later">'], ['<b id="buy">'])]],
    ['replaced together with the words around it', [hunk(['await pay later'], ['return buy now'])]],
    ['in a line of which little stayed', [hunk(['<b id="pay">'], ['x(y) || "buy" ? 1 : 2'])]],
    ['given a name that the page does not have', [hunk(['<b id="pay">'], ['<b id="purchase">'])]],
  ])('BF-2 is not given for a name that was %s', (_, hunks) => {
    expect(renamedTo(hunks, 'pay', ['buy', 'other'])).toBeNull();
  });

  it('BF-2 is read from git’s output, including lines that look like its headers', () => {
    const diff = [
      'diff --git a/db/x.sql b/db/x.sql',
      '--- a/db/x.sql',
      '+++ b/db/x.sql',
      '@@ -1 +1,2 @@',
      '--- a comment of SQL',
      '+++ b',
      '+CREATE TABLE x;',
      'diff --git a/new.sql b/new.sql',
      'deleted file mode 100644',
      '--- a/new.sql',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      '\\ No newline at end of file',
      '* Unmerged path c.sql',
    ].join('\n');
    expect(hunksIn(diff)).toEqual([
      { file: 'db/x.sql', old: ['-- a comment of SQL'], now: ['++ b', 'CREATE TABLE x;'] },
      { file: 'new.sql', old: ['x'], now: [] },
    ]);
  });
});

const header = (text: string) => ({ 'src/header.ts': `${text}\n` });

describe('the change that removed a name', () => {
  it('BF-2 is the newest commit that did, not one that introduced it or has it in a longer name', async () => {
    const states = [
      header("id('pay');"),
      header("id('checkout-pay');"),
      { 'src/other.ts': "id('pay-later');\n" },
    ];
    const { dir } = gitRepository(...states);
    expect(await changesThatRemoved('pay', dir, [])).toEqual([
      { file: 'src/header.ts', old: ["id('pay');"], now: ["id('checkout-pay');"] },
    ]);
    expect(await changesThatRemoved('never-there', dir, [])).toEqual([]);
  });

  it('BF-2 is what is not committed rather than a commit', async () => {
    const { dir, write } = gitRepository(...["id('pay');", "id('buy');", "id('pay');"].map(header));
    write(header("id('order');"));
    expect(await changesThatRemoved('pay', dir, [])).toMatchObject([{ now: ["id('order');"] }]);
  });

  it('BF-2 is the blamed change before all others, but not a whole file in it, which may have moved', async () => {
    const { dir } = gitRepository(header("id('pay');"), header("id('buy');"));
    const blamed = aBlamedHunk({ file: '../src/page.ts', old: ["id('pay')"], now: ["id('order')"] });
    const places = { cwd: path.join(dir, 'web'), root: dir };
    const found = (whole: boolean) =>
      changesThatRemoved('pay', dir, blamedIn({ blame: aBlame({ hunks: [{ ...blamed, whole }] }) }, places));
    expect(await found(false)).toMatchObject([{ file: 'src/page.ts', now: ["id('order')"] }]);
    expect(await found(true)).toMatchObject([{ file: 'src/header.ts', now: ["id('buy');"] }]);
  });
});
