import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';
import { judged } from './judged.js';

const file = 'src/orders.ts';
const order = `export async function order(body, user) {
  if (user.isBlocked) return;
  await audit(body);
  const total = sumOf(body.items).toFixed(2);
  return save({ ...body, total, isPaid: false });
}
`;

/** What the reviewer is told of a change of the app, one line each. */
async function notesOf(from: string, to: string, path = file, text = order) {
  const after = text.replace(from, () => to);
  const { violations, notes } = await judge(requestOf([[path, after]], 'runtime-error', [[path, text]]));
  expect(violations).toEqual([]);
  return notes.map(({ line, says }) => `${line} ${says}`);
}

describe('HN-3 what the app did and does no longer', () => {
  it.each([
    ['a guard clause', '  if (user.isBlocked) return;\n', '', 'if (user.isBlocked) return;'],
    ['an awaited call', '  await audit(body);\n', '', 'await audit(body);'],
    ['a call in a chain', '.toFixed(2)', '', 'sumOf(body.items).toFixed(2)'],
    ['a condition', 'user.isBlocked', 'false', 'user.isBlocked'],
    ['a setting that is flipped', 'isPaid: false', 'isPaid: true', 'false'],
    ['a property', ', isPaid: false', '', 'isPaid: false'],
  ])('HN-3 names %s for the reviewer', async (_what, from, to, code) => {
    expect(await notesOf(from, to)).toEqual([expect.stringContaining(`\`${code}\``)]);
  });

  it('HN-3 names a line that is gone from a language that is not parsed', async () => {
    const python = 'def order(body):\n    audit(body)\n    return save(body)\n';
    expect(await notesOf('    audit(body)\n', '', 'app/orders.py', python)).toEqual([
      expect.stringContaining('`audit(body)` was removed'),
    ]);
  });

  it.each([
    ['what was added', '  await audit(body);', '  await audit(body);\n  await mail(user);'],
    [
      'what moved',
      '  if (user.isBlocked) return;\n  await audit(body);',
      '  await audit(body);\n  if (user.isBlocked) return;',
    ],
    ['what does something else now', 'user.isBlocked', 'user.isSuspended'],
  ])('HN-3 says nothing of %s', async (_what, from, to) => {
    expect(await notesOf(from, to)).toEqual([]);
  });
});

describe('HN-4 package.json', () => {
  it.each([
    ['a script', '"build":"vite build"', '"build":"true"'],
    ['a life-cycle script', '"build":"vite build"', '"build":"vite build","postinstall":"node x.js"'],
    ['a workspace', '"scripts"', '"workspaces":["packages/*"],"scripts"'],
    ['a program', '"scripts"', '"bin":{"ls":"./ls.js"},"scripts"'],
    ['the package manager', '"scripts"', '"packageManager":"npm@1.0.0","scripts"'],
    ['an override of Playwright', '"scripts"', '"overrides":{"playwright":"file:./x"},"scripts"'],
  ])('HN-4 rejects %s', async (_what, from, to) => {
    const found = await judged([['package.json', from, to]], 'build-error');
    expect(found.map(({ rule }) => rule)).toEqual(['package-changed']);
  });

  it.each(['.npmrc', 'packages/a/.npmrc', '.pnpmfile.cjs', '.yarnrc.yml'])(
    'HN-4 rejects %s',
    async (path) => {
      const found = await judged([[path, 'script-shell=./x\n']], 'build-error');
      expect(found.map(({ rule }) => rule)).toEqual(['protected-file']);
    },
  );
});

describe('HN-3 the compiler', () => {
  it.each([
    ['tsconfig.json', '{ "compilerOptions": { "noUnusedLocals": true } }', '{ "compilerOptions": {} }'],
    ['tsconfig.json', '{ "include": ["src"] }', '{ "include": ["src/a"] }'],
    ['src/a.ts', 'a();\n', '// @ts-expect-error\na();\n'],
    ['app/a.py', 'a()\n', 'a()  # type: ignore\n'],
  ])('HN-3 rejects a %s that checks less', async (path, before, after) => {
    const found = await judged([[path, after]], 'build-error', [[path, before]]);
    expect(found.map(({ rule }) => rule)).toEqual(['compiler-loosened']);
  });

  it('HN-3 accepts other settings', async () => {
    const [before, after] = [
      '{ "compilerOptions": { "paths": {} } }',
      '{ "compilerOptions": { "paths": { "@/*": ["src/*"] }, "strict": true } }',
    ];
    expect(await judged([['tsconfig.json', after]], 'build-error', [['tsconfig.json', before]])).toEqual([]);
  });
});
