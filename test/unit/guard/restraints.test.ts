import { describe, expect, it } from 'vitest';
import { type Edit, places, requestOf } from '../../../fixtures/guard/project.mjs';
import { judge } from '../../../src/guard/judge.js';

async function rulesOf(edits: readonly Edit[], given: readonly Edit[] = []): Promise<string[]> {
  const { violations } = await judge({
    ...requestOf(edits, 'runtime-error', given),
    healed: places.testFiles,
  });
  return violations.map(({ rule }) => rule);
}

/** What the guard says of one file of the app that was changed. */
const changed = (file: string, before: string, after: string) => rulesOf([[file, after]], [[file, before]]);

const file = 'src/orders.ts';
const order = `export async function order(body) {
  const wanted = schema.parse(body);
  if (wanted.count > stock) throw new Error('sold out');
  await audit(wanted);
  return save(wanted);
}
`;

describe('HN-3 what an app refuses, and does', () => {
  it.each([
    ['an error is not thrown', file, order, order.replace(/ {2}if .*\n/, '')],
    ['a body is not validated', file, order, order.replace('schema.parse(body)', 'body')],
    ['a schema takes anything', file, 'const tea = z.string().min(1).max(9);\n', 'const tea = z.any();\n'],
    ['a middleware is gone', file, 'app.use(csrf());\napp.use(log());\n', 'app.use(log());\n'],
    [
      'a status is 200',
      file,
      'app.use((error, reply) => reply.status(error.code ?? 500).json({}));\n',
      'app.use((error, reply) => reply.status(200).json({ error }));\n',
    ],
    ['a column is optional', 'src/schema.ts', "integer('id').notNull();\n", "integer('id');\n"],
    [
      'a field of Prisma is optional',
      'src/schema.prisma',
      'model Tea {\n  name String\n}\n',
      'model Tea {\n  name String?\n}\n',
    ],
    [
      'a field of a form may be empty',
      'src/tea.svelte',
      '<input name="tea" required />\n',
      '<input name="tea" />\n',
    ],
    ['a key of a schema is gone', file, 'schema({ age: { required: true } });\n', 'schema({ age: {} });\n'],
    ['a key is off', file, 'field({ required: true });\n', 'field({ required: false });\n'],
    ['a patch takes an error away', 'patches/zod.patch', '', '-  throw error;\n+  return value;\n'],
  ])('HN-3 less is refused where %s', async (_what, path, before, after) => {
    expect(await changed(path, before, after)).toContain('restraint-removed');
  });

  it('HN-3 what is taken out of an object by such a name restrains nothing', async () => {
    expect(await changed(file, 'const { max } = range;\nshow(max);\n', 'show(range.max);\n')).toEqual([]);
  });

  it.each([
    ['ALTER TABLE tea DROP CONSTRAINT tea_name;\n', true],
    ['ALTER TABLE tea ALTER COLUMN name DROP NOT NULL;\n', true],
    ['SET FOREIGN_KEY_CHECKS = 0;\nDELETE FROM tea;\n', true],
    ['PRAGMA foreign_keys = OFF;\nDELETE FROM tea;\nPRAGMA foreign_keys = ON;\n', false],
    [
      'ALTER TABLE tea DROP CONSTRAINT tea_kind;\nALTER TABLE tea ADD CONSTRAINT tea_kind CHECK (kind <> 1);\n',
      false,
    ],
    ['ALTER TABLE tea ADD COLUMN note text;\n', false],
  ])('HN-3 a migration may take no constraint away: %j, %s', async (sql, isLess) => {
    expect(await rulesOf([['migrations/2.sql', sql]])).toEqual(isLess ? ['restraint-removed'] : []);
  });

  it('HN-3 a check may move to another file, and several may become one', async () => {
    const check = "if (!stock) throw new Error('sold out');\n";
    const given: Edit[] = [
      ['src/a.ts', check],
      ['src/b.ts', check],
    ];
    const edits: Edit[] = [
      ['src/a.ts', 'inStock();\n'],
      ['src/b.ts', 'inStock();\n'],
      ['src/stock.ts', `export function inStock() {\n  ${check}}\n`],
    ];
    expect(await rulesOf(edits, given)).toEqual([]);
  });

  it.each([
    ['is gone, which only a person can judge', '', []],
    ['becomes another one', '  await record(wanted);\n', []],
    ['hides its error', '  await audit(wanted).catch(() => undefined);\n', ['errors-silenced']],
    ['is only logged', '  audit(wanted).catch((error) => console.error(error));\n', ['errors-silenced']],
  ])('HN-3 what the app waits for %s', async (_what, now, rules) => {
    expect(await changed(file, order, order.replace('  await audit(wanted);\n', now))).toEqual(rules);
  });

  it.each(["throw new Error('not written yet');", 'reply.status(500).json({});'])(
    'HN-3 what fails whatever is asked may become an answer: %s',
    async (always) => {
      const of = (body: string) => `export function load(reply, id) {\n  ${body}\n}\n`;
      expect(await changed(file, of(always), of('return reply.json(items.get(id));'))).toEqual([]);
    },
  );

  it('HN-3 a visitor may be told what only the console was', async () => {
    const load = 'load().catch((error) => {\n  console.error(error);\n});\n';
    expect(await changed(file, load, load.replace('console.error(error)', 'show(error.message)'))).toEqual(
      [],
    );
  });

  it('HN-3 what nobody waited for may be logged where it fails', async () => {
    const floating = order.replace('await audit(wanted);', 'audit(wanted);');
    const logged = floating.replace(
      'audit(wanted);',
      'audit(wanted).catch((error) => console.error(error));',
    );
    expect(await changed(file, floating, logged)).toEqual([]);
  });

  it('HN-3 what fails may be tried again, as long as it fails in the end', async () => {
    const loop =
      'for (let turn = 0; turn < 5; turn += 1) {\n  try {\n    return await ask();\n  } catch {\n    await sleep(9);\n  }\n}\n';
    const of = (body: string) => `export async function load() {\n${body}}\n`;
    expect(await changed(file, of('return ask();\n'), of(loop))).toContain('errors-silenced');
    expect(await changed(file, of('return ask();\n'), of(`${loop}throw new Error('no answer');\n`))).toEqual(
      [],
    );
  });

  it.each([
    ["const live = process.env.LIVE === 'yes';\nif (!live) return { status: 'paid' };", 'app-detects-tests'],
    ["if (process.env.NODE_ENV !== 'production') return next();", 'app-detects-tests'],
    ["const skip = () => process.env.NODE_ENV !== 'production';", 'app-detects-tests'],
    ['await new Promise((done) => setTimeout(done, 2000));', 'sleep-added'],
    ['const total = 1200;', 'input-hard-coded'],
    ["const secret = process.env.SECRET ?? 'secret';", 'security-loosened'],
    ['const options = cors({ origin: (from) => from, credentials: true });', 'security-loosened'],
  ])('HN-3 a fix may not add %s', async (code, rule) => {
    expect(await changed(file, 'x();\n', `export async function pay(next) {\n${code}\n}\n`)).toContain(rule);
  });

  it('HN-3 a figure of the tests may stand in the seed', async () => {
    expect(await changed('src/db/seed.ts', 'x();\n', 'insert({ price: 12.00, name: "12.00 €" });\n')).toEqual(
      [],
    );
  });
});
