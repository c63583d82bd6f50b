import { describe, expect, it } from 'vitest';
import { type Edit, places, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';

async function rulesOf(edits: readonly Edit[], given: readonly Edit[] = []): Promise<string[]> {
  const { violations } = await judge({
    ...requestOf(edits, 'runtime-error', given),
    healed: places.testFiles,
  });
  return violations.map(({ rule }) => rule);
}

/** The rules that a change to one file of the app breaks. */
const changed = (file: string, before: string, after: string) => rulesOf([[file, after]], [[file, before]]);

const file = 'src/orders.ts';
const order = `export async function order(body) {
  const wanted = schema.parse(body);
  if (wanted.count > stock) throw new Error('sold out');
  await audit(wanted);
  return save(wanted);
}
`;

it('HN-3 says that a file no longer parses, not what it seems to have lost', async () => {
  const broken = order.replace('return save(wanted);', 'return save(wanted;');
  expect(await changed(file, order, broken)).toEqual(['cannot-be-judged']);
});

describe('HN-3 checks and calls of the app', () => {
  it.each([
    ['an error is no longer thrown', file, order, order.replace(/ {2}if .*\n/, '')],
    ['a body is no longer validated', file, order, order.replace('schema.parse(body)', 'body')],
    ['a schema accepts anything', file, 'const tea = z.string().min(1).max(9);\n', 'const tea = z.any();\n'],
    ['a middleware is removed', file, 'app.use(csrf());\napp.use(log());\n', 'app.use(log());\n'],
    [
      'an error is answered with 200',
      file,
      'app.use((error, reply) => reply.status(error.code ?? 500).json({}));\n',
      'app.use((error, reply) => reply.status(200).json({ error }));\n',
    ],
    ['a column becomes optional', 'src/schema.ts', "integer('id').notNull();\n", "integer('id');\n"],
    [
      'a Prisma field becomes optional',
      'src/schema.prisma',
      'model Tea {\n  name String\n}\n',
      'model Tea {\n  name String?\n}\n',
    ],
    [
      'a form field may be empty',
      'src/tea.svelte',
      '<input name="tea" required />\n',
      '<input name="tea" />\n',
    ],
    [
      'an option of a schema is removed',
      file,
      'schema({ age: { required: true } });\n',
      'schema({ age: {} });\n',
    ],
    ['an option is turned off', file, 'field({ required: true });\n', 'field({ required: false });\n'],
    ['a package is patched not to throw', 'patches/zod.patch', '', '-  throw error;\n+  return value;\n'],
  ])('HN-3 rejects a loosened check: %s', async (_what, path, before, after) => {
    expect(await changed(path, before, after)).toContain('restraint-removed');
  });

  it('HN-3 does not take a destructured property for a check because of its name', async () => {
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
  ])('HN-3 rejects a migration that removes a constraint: %j, %s', async (sql, isLess) => {
    expect(await rulesOf([['migrations/2.sql', sql]])).toEqual(isLess ? ['restraint-removed'] : []);
  });

  it('HN-3 accepts a check that moves to another file, and several that become one', async () => {
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
    ['is removed, which only a person can judge', '', []],
    ['becomes another one', '  await record(wanted);\n', []],
    ['swallows its error', '  await audit(wanted).catch(() => undefined);\n', ['errors-silenced']],
    ['only logs its error', '  audit(wanted).catch((error) => console.error(error));\n', ['errors-silenced']],
  ])('HN-3 judges an awaited call that %s', async (_what, now, rules) => {
    expect(await changed(file, order, order.replace('  await audit(wanted);\n', now))).toEqual(rules);
  });

  it.each(["throw new Error('not written yet');", 'reply.status(500).json({});'])(
    'HN-3 accepts an answer in place of code that always fails: %s',
    async (always) => {
      const of = (body: string) => `export function load(reply, id) {\n  ${body}\n}\n`;
      expect(await changed(file, of(always), of('return reply.json(items.get(id));'))).toEqual([]);
    },
  );

  it('HN-3 accepts showing an error to the user that was only logged', async () => {
    const load = 'load().catch((error) => {\n  console.error(error);\n});\n';
    expect(await changed(file, load, load.replace('console.error(error)', 'show(error.message)'))).toEqual(
      [],
    );
  });

  it('HN-3 accepts logging the error of a call that nobody awaited', async () => {
    const floating = order.replace('await audit(wanted);', 'audit(wanted);');
    const logged = floating.replace(
      'audit(wanted);',
      'audit(wanted).catch((error) => console.error(error));',
    );
    expect(await changed(file, floating, logged)).toEqual([]);
  });

  it('HN-3 accepts retries only if the call finally fails', async () => {
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
  ])('HN-3 rejects a fix that adds %s', async (code, rule) => {
    expect(await changed(file, 'x();\n', `export async function pay(next) {\n${code}\n}\n`)).toContain(rule);
  });

  it('HN-3 accepts a number of the tests in the seed data', async () => {
    expect(await changed('src/db/seed.ts', 'x();\n', 'insert({ price: 12.00, name: "12.00 €" });\n')).toEqual(
      [],
    );
  });
});
