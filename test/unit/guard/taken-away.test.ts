import { describe, expect, it } from 'vitest';
import { brokeBy, type Edit, edited, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';

const file = 'src/orders.ts';

/** The guard's violations and notes for a change to a file of the app, one line each. */
async function findingsOf(before: string, after: string, { path = file, more = [] as Edit[] } = {}) {
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
  findingsOf(
    order,
    order.replace(from, () => to),
  );

describe('HN-3 what the app no longer does', () => {
  it.each([
    ['a guard clause', '  if (user.isBlocked) return;\n', '', 'if (user.isBlocked) return;'],
    ['an awaited call', '  await audit(body);\n', '', 'await audit(body);'],
    ['a call in a chain', '.toFixed(2)', '', 'sumOf(body.items).toFixed(2)'],
    ['a condition', 'user.isBlocked', 'false', 'user.isBlocked'],
    ['a setting that is flipped', 'isPaid: false', 'isPaid: true', 'false'],
    ['a property of an object', ', isPaid: false', '', 'isPaid: false'],
  ])('HN-3 names %s', async (_what, from, to, code) => {
    expect(await changed(from, to)).toEqual([expect.stringContaining(`\`${code}\``)]);
  });

  it.each([
    ['?? 600', 'sumOf(body.items).toFixed(2) ?? 600'],
    ['a conditional', 'body.items ? sumOf(body.items).toFixed(2) : 600'],
  ])('HN-3 names a hard-coded answer: %s', async (_what, now) => {
    expect(await changed('sumOf(body.items).toFixed(2)', now)).toEqual([
      expect.stringContaining('answers with a hard-coded value'),
    ]);
  });

  it.each([
    [
      'a missing key is let in',
      "if (key !== own) throw new Error('no');",
      'if (key !== own)',
      'if (key && key !== own)',
    ],
    ['a validated value has a default', 'const name = z.string().min(2);', 'min(2)', "min(2).default('Ada')"],
    ['the app differs by environment', 'const mail = smtp();', 'smtp()', 'process.env.SMTP ? smtp() : log()'],
    ['another check is called', 'requireOwner(user);', 'requireOwner', 'requireUser'],
  ])('HN-3 names an exception: %s', async (_what, before, from, to) => {
    expect(await findingsOf(`${before}\n`, `${before.replace(from, to)}\n`)).toHaveLength(1);
  });

  it.each([
    ['an additional condition of a rejection', "if (key !== own) throw new Error('no');", '(', '(isOpen && '],
    ['a condition that rejects nothing', 'if (key !== own) save();', '(', '(key && '],
    ['an additional check in a chain', 'const name = z.string().min(2);', 'min(2)', 'min(2).max(9)'],
    ['an environment variable', 'const mail = smtp();', 'smtp()', 'smtp(process.env.SMTP)'],
  ])('HN-3 does not name as an exception: %s', async (_what, before, from, to) => {
    expect(await findingsOf(`${before}\n`, `${before.replace(from, to)}\n`)).toEqual([]);
  });

  it.each([
    ['a decorator', 'src/api.ts', '@UseFilters(Errors)\nclass Api {}\n', 'class Api {}\n'],
    ['a template expression', 'src/a.svelte', '<p>{name.trim()}</p>\n', '<p>Ada</p>\n'],
    ['a line of a shell script', 'bin/start', 'migrate\nserve\n', 'serve\n'],
    ['a tool setting', 'angular.json', '{ "web": { "strict": true } }', '{ "web": { "strict": false } }'],
  ])('HN-3 names %s', async (_what, path, before, after) => {
    expect(await findingsOf(before, after, { path })).toHaveLength(1);
  });

  it.each([
    [
      'a changed layout',
      '{ ...body, total, isPaid: false }',
      '{\n    ...body,\n    total,\n    isPaid: false,\n  }',
    ],
    ['a changed call', 'sumOf(body.items)', 'totalOf(body.items)'],
    ['an extended condition', 'user.isBlocked', 'user.isBlocked || user.isGone'],
    ['a moved statement', '  await audit(body);\n  const total', '  const total'],
    ['a setting with a default', 'toFixed(2)', 'toFixed(process.env.DIGITS ?? 2)'],
  ])('HN-3 does not name %s', async (_what, from, to) => {
    const more: Edit[] = from.includes('audit') ? [['src/audit.ts', 'await audit(body);\n']] : [];
    expect(
      await findingsOf(
        order,
        order.replace(from, () => to),
        { more },
      ),
    ).toEqual([]);
  });

  it('HN-3 rejects an answer of constants in place of what a route called, as a stub', async () => {
    const route =
      "import { take } from './seeds';\nexport const POST = async ({ params }) => {\n  const seed = take(params.id);\n  return Response.json(seed);\n};\n";
    const answering = (answer: string) =>
      findingsOf(route, `export const POST = async () => Response.json(${answer});\n`);
    expect(await answering('{ packets: 6 }')).toContain('1 app-stubbed');
    expect(await answering('{ packets: [] }')).not.toContain('1 app-stubbed');
  });

  it('HN-3 rejects a constant in place of a call, and one that the tests expect, as a stub', async () => {
    expect(await changed('sumOf(body.items).toFixed(2)', "'9'")).toEqual(['4 app-stubbed']);
    const label = 'export const label = (count) => count + 1;\n';
    expect(await findingsOf(label, label.replace('count + 1', "'Nothing found'"))).toContain('1 app-stubbed');
    expect(await findingsOf(label, label.replace('count + 1', "'None'"))).toEqual([
      expect.stringContaining('was replaced by'),
    ]);
  });

  it('HN-3 rejects that a call is no longer awaited, because its failure would go unnoticed', async () => {
    expect(await changed('await audit(body);', 'audit(body);')).toEqual(['3 errors-silenced']);
    const returned = order.replace('return save', 'return await save');
    expect(await findingsOf(returned, order)).toEqual([]);
  });

  it('HN-3 accepts the removal of what broke the test without a note', async () => {
    const start: Edit = [file, order.replace('  if (user.isBlocked) return;\n', '')];
    const broke: Edit = [file, '  await audit', '  if (user.isBlocked) return;\n  await audit'];
    const hunks = brokeBy([broke], edited([start]));
    const fix: Edit[] = [[file, 'if (user.isBlocked) return;\n  await audit', 'await audit']];
    const request = requestOf(fix, 'runtime-error', [start, broke]);
    expect(await judge({ ...request, broke: hunks })).toMatchObject({ violations: [], notes: [] });
    expect(await judge(request)).toMatchObject({ violations: [], notes: [{ file, line: 2 }] });
  });

  it('HN-3 names a few places one by one, and a file that is too long as a whole', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `start${at}();\n`).join('');
    const notes = await findingsOf(lines(40), 'start0();\n');
    expect(notes).toHaveLength(13);
    expect(notes.at(-1)).toContain('27 more');
    expect(await findingsOf(lines(20), `${lines(19)}/*${'x'.repeat(200_000)}*/\n`)).toEqual([
      expect.stringContaining('too long'),
    ]);
  });
});
