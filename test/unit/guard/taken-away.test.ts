import { describe, expect, it } from 'vitest';
import { brokeBy, type Edit, edited, requestOf } from '../../../fixtures/guard/project.mjs';
import { judge } from '../../../src/guard/judge.js';

const file = 'src/orders.ts';

/** What the guard says of a file of the app, in one line each. */
async function said(before: string, after: string, { path = file, more = [] as Edit[] } = {}) {
  const { violations, notes } = await judge(
    requestOf([[path, after], ...more], 'runtime-error', [[path, before]]),
  );
  return [
    ...violations.map(({ rule, line }) => `${line} ${rule}`),
    ...notes.map(({ line, says }) => `${line} ${says}`),
  ];
}

const order = `export async function order(body, user) {
  if (user.isBlocked) return;
  await audit(body);
  const total = sumOf(body.items).toFixed(2);
  return save({ ...body, total, isPaid: false });
}
`;
const changed = (from: string, to: string) =>
  said(
    order,
    order.replace(from, () => to),
  );

describe('HN-3 what an app did and does no longer is named for the reviewer', () => {
  it.each([
    ['a guard clause', '  if (user.isBlocked) return;\n', '', 'if (user.isBlocked) return;'],
    ['a call that is waited for', '  await audit(body);\n', '', 'await audit(body);'],
    ['a link of a chain', '.toFixed(2)', '', 'sumOf(body.items).toFixed(2)'],
    ['a condition', 'user.isBlocked', 'false', 'user.isBlocked'],
    ['a setting that is turned', 'isPaid: false', 'isPaid: true', 'false'],
    ['a part of a record', ', isPaid: false', '', 'isPaid: false'],
  ])('HN-3 names %s', async (_what, from, to, code) => {
    expect(await changed(from, to)).toEqual([expect.stringContaining(`\`${code}\``)]);
  });

  it.each([
    ['?? 600', 'sumOf(body.items).toFixed(2) ?? 600'],
    ['an answer', 'body.items ? sumOf(body.items).toFixed(2) : 600'],
  ])('HN-3 names what is answered with a constant: %s', async (_what, now) => {
    expect(await changed('sumOf(body.items).toFixed(2)', now)).toEqual([
      expect.stringContaining('answers with a hard-coded value'),
    ]);
  });

  it.each([
    [
      'who says nothing is let in',
      "if (key !== own) throw new Error('no');",
      'if (key !== own)',
      'if (key && key !== own)',
    ],
    ['what is valid has a default', 'const name = z.string().min(2);', 'min(2)', "min(2).default('Ada')"],
    ['it is another app elsewhere', 'const mail = smtp();', 'smtp()', 'process.env.SMTP ? smtp() : log()'],
    ['a check has another name', 'requireOwner(user);', 'requireOwner', 'requireUser'],
  ])('HN-3 names an exception: %s', async (_what, before, from, to) => {
    expect(await said(`${before}\n`, `${before.replace(from, to)}\n`)).toHaveLength(1);
  });

  it.each([
    ['a refusal on another condition', "if (key !== own) throw new Error('no');", '(', '(isOpen && '],
    ['a condition that refuses nothing', 'if (key !== own) save();', '(', '(key && '],
    ['one more link that restrains', 'const name = z.string().min(2);', 'min(2)', 'min(2).max(9)'],
    ['a variable of the environment', 'const mail = smtp();', 'smtp()', 'smtp(process.env.SMTP)'],
  ])('HN-3 %s is no exception', async (_what, before, from, to) => {
    expect(await said(`${before}\n`, `${before.replace(from, to)}\n`)).toEqual([]);
  });

  it.each([
    ['a decorator', 'src/api.ts', '@UseFilters(Errors)\nclass Api {}\n', 'class Api {}\n'],
    ['an expression of a template', 'src/a.svelte', '<p>{name.trim()}</p>\n', '<p>Ada</p>\n'],
    ['a line of a script', 'bin/start', 'migrate\nserve\n', 'serve\n'],
    [
      'a setting of a tool',
      'angular.json',
      '{ "web": { "strict": true } }',
      '{ "web": { "strict": false } }',
    ],
  ])('HN-3 names %s', async (_what, path, before, after) => {
    expect(await said(before, after, { path })).toHaveLength(1);
  });

  it.each([
    [
      'another layout',
      '{ ...body, total, isPaid: false }',
      '{\n    ...body,\n    total,\n    isPaid: false,\n  }',
    ],
    ['another call', 'sumOf(body.items)', 'totalOf(body.items)'],
    ['more of a condition', 'user.isBlocked', 'user.isBlocked || user.isGone'],
    ['another place', '  await audit(body);\n  const total', '  const total'],
    ['a default of a setting', 'toFixed(2)', 'toFixed(process.env.DIGITS ?? 2)'],
  ])('HN-3 says nothing to %s', async (_what, from, to) => {
    const more: Edit[] = from.includes('audit') ? [['src/audit.ts', 'await audit(body);\n']] : [];
    expect(
      await said(
        order,
        order.replace(from, () => to),
        { more },
      ),
    ).toEqual([]);
  });

  it('HN-3 a constant in the place of a call is a stub, and so is one that the tests expect', async () => {
    expect(await changed('sumOf(body.items).toFixed(2)', "'9'")).toEqual(['4 app-stubbed']);
    const label = 'export const label = (count) => count + 1;\n';
    expect(await said(label, label.replace('count + 1', "'Nothing found'"))).toContain('1 app-stubbed');
    expect(await said(label, label.replace('count + 1', "'None'"))).toEqual([
      expect.stringContaining('was replaced by'),
    ]);
  });

  it('HN-3 what is no longer waited for fails unseen', async () => {
    expect(await changed('await audit(body);', 'audit(body);')).toEqual(['3 errors-silenced']);
    const returned = order.replace('return save', 'return await save');
    expect(await said(returned, order)).toEqual([]);
  });

  it('HN-3 what broke the test may go, and nothing is said of it', async () => {
    const start: Edit = [file, order.replace('  if (user.isBlocked) return;\n', '')];
    const broke: Edit = [file, '  await audit', '  if (user.isBlocked) return;\n  await audit'];
    const hunks = brokeBy([broke], edited([start]));
    const fix: Edit[] = [[file, 'if (user.isBlocked) return;\n  await audit', 'await audit']];
    const request = requestOf(fix, 'runtime-error', [start, broke]);
    expect(await judge({ ...request, broke: hunks })).toMatchObject({ violations: [], notes: [] });
    expect(await judge(request)).toMatchObject({ violations: [], notes: [{ file, line: 2 }] });
  });

  it('HN-3 a few places are named one by one, and a file that is too long is named as a whole', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `start${at}();\n`).join('');
    const notes = await said(lines(40), 'start0();\n');
    expect(notes).toHaveLength(13);
    expect(notes.at(-1)).toContain('27 more');
    expect(await said(lines(20), `${lines(19)}/*${'x'.repeat(200_000)}*/\n`)).toEqual([
      expect.stringContaining('too long'),
    ]);
  });
});
