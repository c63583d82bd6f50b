import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { fromRepository, openAppChanges } from '../../../src/fixer/app-changes.js';
import { aBlamedHunk } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

function repository() {
  const dir = tempDir('app changes');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], { cwd: dir });
  git('init', '--quiet', '--initial-branch=main');
  const commit = (files: Record<string, string>) => {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
      writeFileSync(path.join(dir, file), text);
    }
    git('add', '--all');
    git('commit', '--quiet', '--message', 'A change');
  };
  return { dir, commit };
}

const isApp = (file: string) => file.startsWith('src/');

it('BF-2 finds the new name in the commit that renamed it, not in the one that introduced the old name', async () => {
  const { dir, commit } = repository();
  commit({
    'src/header.ts': "h('b', { 'data-testid': 'cart-count' });\n",
    'tests/cart.spec.ts': "getByTestId('cart-count');\n",
  });
  commit({ 'src/other.ts': 'other();\n' });
  commit({ 'src/header.ts': "h('b', { 'data-testid': 'basket-count' });\n" });
  const changes = openAppChanges(dir);
  expect(await changes.renaming('cart-count', isApp)).toEqual({
    kind: 'renamed',
    to: 'basket-count',
    file: 'src/header.ts',
  });
  expect(await changes.renaming('never-there', isApp)).toEqual({ kind: 'unknown' });
});

it.each([
  ["id('pay')", "id('checkout-pay')", 'pay', 'checkout-pay'],
  ["get('/api/orders.json')", "get('/api/shop-orders.json')", '/api/orders.json', '/api/shop-orders.json'],
])('BF-2 finds a new name that contains the old one: %s', async (was, is, name, to) => {
  const { dir, commit } = repository();
  commit({ 'src/header.ts': `${was}\n` });
  commit({ 'src/header.ts': `${is}\n` });
  commit({ 'src/other.ts': `${name}s();\n` });
  expect(await openAppChanges(dir).renaming(name, isApp)).toMatchObject({ kind: 'renamed', to });
});

it('BF-2 consults the blamed change before git, and leaves whole files in it to git', async () => {
  const { dir, commit } = repository();
  commit({ 'src/header.ts': "id('cart-count');\n" });
  commit({ 'src/header.ts': "id('basket-count');\n" });
  const blamed = aBlamedHunk({ file: '../src/page.ts', old: ["id('cart-count')"], now: ["id('cart-size')"] });
  const places = { cwd: path.join(dir, 'web'), root: dir };
  const changes = openAppChanges(dir, fromRepository([blamed], places));
  expect(await changes.renaming('cart-count', isApp)).toEqual({
    kind: 'renamed',
    to: 'cart-size',
    file: 'src/page.ts',
  });
  const whole = openAppChanges(dir, fromRepository([{ ...blamed, whole: true }], places));
  expect(await whole.renaming('cart-count', isApp)).toMatchObject({ to: 'basket-count' });
});

it('BF-4 finds the committed migration that renamed a column, although it removed no line', async () => {
  const { dir, commit } = repository();
  commit({
    'db/1.sql': 'create table members (mail text);\n',
    'src/a.ts': "query('select mail from members')\n",
  });
  const migration = 'alter table members rename column mail to address;';
  commit({ 'db/2.sql': `${migration}\n`, 'src/other.ts': 'other();\n' });
  commit({ 'src/other.ts': 'mail();\n' });
  expect(await openAppChanges(dir).hunksAbout('mail')).toContainEqual({
    file: 'db/2.sql',
    old: [],
    now: [migration],
  });
});
