import { describe, expect, it } from 'vitest';
import { brokeBy, type Edit, edited, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';
import { withoutBlamed } from '../../../src/guard/without-blamed.js';

const file = 'src/orders.ts';
const order = `export async function order(body) {
  if (body.count > 9) throw new TypeError('too many');
  return save(body);
}
`;
const start: Edit = [file, order];
const refusal = "  if (body.count < 3) throw new RangeError('three at least');\n";
const broke: Edit = [file, '  return', `${refusal}  return`];

/** The rules that a fix breaks in a project in which `edits` broke the test; `named` are the hunks that are blamed. */
async function rulesOf(fix: readonly Edit[], edits: readonly Edit[], named = hunksOf(edits)) {
  const request = requestOf(fix, 'runtime-error', [start, ...edits]);
  const { violations } = await judge({ ...request, broke: named });
  return violations.map(({ rule }) => rule);
}

const hunksOf = (edits: readonly Edit[]) => brokeBy(edits, edited([start]));

describe('HN-3 removing what broke the test', () => {
  it('HN-3 accepts the removal of a check that the blamed change added, but not without the blame', async () => {
    const fix: Edit[] = [[file, refusal, '']];
    expect(await rulesOf(fix, [broke])).toEqual([]);
    expect(await rulesOf(fix, [broke], [])).toEqual(['restraint-removed']);
  });

  it.each([
    ['is removed', "  if (body.count > 9) throw new TypeError('too many');\n", ''],
    ['becomes a log', "throw new TypeError('too many')", "console.warn('too many')"],
  ])('HN-3 rejects that an older check %s', async (_what, from, to) => {
    expect(await rulesOf([[file, from, to]], [broke])).toEqual(['restraint-removed']);
    expect(
      await rulesOf(
        [
          [file, from, to],
          [file, refusal, ''],
        ],
        [broke],
      ),
    ).toEqual(['restraint-removed']);
  });

  it('HN-3 rejects the removal of a check that the blamed change only altered, but accepts its old form', async () => {
    const altered: Edit = [file, 'body.count > 9', 'body.count > 2'];
    const whole = "  if (body.count > 2) throw new TypeError('too many');\n";
    expect(await rulesOf([[file, whole, '']], [altered])).toEqual(['restraint-removed', 'app-does-less']);
    expect(await rulesOf([[file, 'body.count > 2', 'body.count > 9']], [altered])).toEqual([]);
  });

  it('HN-3 rejects the removal of a check that the blamed change put in place of another', async () => {
    const [old, now] = ["  if (body.count > 9) throw new TypeError('too many');\n", '  requireFew(body);\n'];
    expect(await rulesOf([[file, now, '']], [[file, old, now]])).toContain('restraint-removed');
  });

  it('HN-3 names a check of the blamed change that is removed by itself, but not one that it renamed', async () => {
    const added: Edit = [file, '  return', `  log(body);\n${refusal}  return`];
    const renamed: Edit[] = [
      [file, '  return', '  requireFew(body);\n  return'],
      ['src/few.ts', 'export const requireFew = check;\n'],
    ];
    const rename: Edit = ['src/few.ts', 'requireFew', 'requireSome'];
    const notesOn = async (fix: Edit[], found: Edit[], named: Edit[]) => {
      const request = requestOf(fix, 'runtime-error', [start, ...found, ...named]);
      return (await judge({ ...request, broke: brokeBy(named, edited([start, ...found])) })).notes;
    };
    expect(await notesOn([[file, refusal, '']], [], [added])).toEqual([
      { file, line: null, says: expect.stringContaining('three at least') as string },
    ]);
    const follows: Edit[] = [[file, 'requireFew', 'requireSome']];
    expect(await notesOn(follows, renamed, [rename])).toEqual([]);
    expect(await notesOn(follows, renamed, [[file, 'save(body)', 'save(body.few)']])).toMatchObject([
      { says: expect.stringContaining('was removed') as string },
      { says: expect.stringContaining('still there') as string },
    ]);
  });

  it('HN-3 accepts a setting as it was before the test broke', async () => {
    const strict: Edit[] = [['tsconfig.json', '{ "compilerOptions": { "strict": true } }\n']];
    const fix: Edit[] = [['tsconfig.json', '{ "compilerOptions": {} }\n']];
    const from = edited([start, ['tsconfig.json', '{ "compilerOptions": {} }\n']]);
    expect(await rulesOf(fix, strict)).toEqual(['compiler-loosened']);
    expect(await rulesOf(fix, strict, brokeBy(strict, from))).toEqual([]);
  });

  it('HN-3 excuses nothing if the blamed lines have changed or occur twice', async () => {
    const [hunk] = hunksOf([broke]);
    const others = [{ file, line: 3, old: [], now: ['  if (body.count < 4) throw new RangeError();'] }];
    expect(await rulesOf([[file, refusal, '']], [broke], others)).toEqual(['restraint-removed']);
    const moved = { file, line: 40, old: [], now: hunk?.now ?? [] };
    expect(await rulesOf([[file, refusal, '']], [broke], [moved])).toEqual([]);
    const text = `${refusal}\n${refusal}`;
    expect(withoutBlamed(text, [moved])).toBe(text);
  });

  it('HN-3 reverts several hunks in their places', () => {
    const hunks = [
      { file, line: 1, old: ['a', 'b'], now: ['A'] },
      { file, line: 3, old: ['d'], now: [] },
      { file, line: 3, old: [], now: ['e'] },
    ];
    expect(withoutBlamed('A\r\nc\ne\n', hunks)).toBe('a\nb\nc\nd\n');
  });
});

const fees = 'src/fees.ts';
const app: Edit[] = [
  [
    file,
    `export async function order(body, user) {
  await audit(body);
  const fee = feeOf(body);
  return save({ ...body, fee }, user);
}
`,
  ],
  [fees, 'export function feeOf({ price }) {\n  return price * 2;\n}\n'],
];
const tripled: Edit = [fees, 'price * 2', 'price * 3'];
const audit = '  await audit(body);\n';

/** The rules and notes of the guard for a fix of an app that `edits` broke; `named` are the hunks that are blamed. */
async function findingsOf(fix: readonly Edit[], edits: readonly Edit[], named = brokeBy(edits, edited(app))) {
  const { violations, notes } = await judge({
    ...requestOf(fix, 'runtime-error', [...app, ...edits]),
    broke: named,
  });
  return [
    ...violations.map(({ rule, line }) => `${rule}:${line}`),
    ...notes.map((one) => `${one.file}:${one.line} ${/still there|was removed/.exec(one.says)?.[0]}`),
  ];
}

describe('HN-3 removing what the blamed change left as it was', () => {
  it.each([
    ['far from the blamed change', tripled, [file, audit, '']],
    [
      'altered by the blamed change',
      [file, 'audit(body)', 'audit(body.id)'],
      [file, '  await audit(body.id);\n', ''],
    ],
  ] as [string, Edit, Edit][])('HN-3 is rejected for an older statement: %s', async (_what, broken, fix) => {
    expect(await findingsOf([fix], [broken])).toContain('app-does-less:2');
    expect(await findingsOf([fix], [broken], [])).toEqual([`${file}:2 was removed`]);
  });

  it.each([
    ['concerns what broke the test', [fees, '{ price }', '{ price, audit }'], [file, audit, '']],
    ['is an argument of a changed call', tripled, [file, ', user);', ');']],
    [
      'may be done by code added beside it',
      tripled,
      [file, audit, '  if (user.isKnown) return;\n  const at = user.at;\n'],
    ],
    [
      'may be done by code changed beside it',
      tripled,
      [file, `${audit}  const fee = feeOf(body)`, '  const fee = feeOf(body).sum'],
    ],
    ['may be done by a package', ['package.json', '"^4.0.0"', '"^5.0.0"'], [file, audit, '']],
  ] as [string, Edit, Edit][])('HN-3 is only named if the code %s', async (_what, broken, fix) => {
    const found = await findingsOf([fix], [broken]);
    expect(found.filter((one) => one.startsWith('app-does-less'))).toEqual([]);
    expect(found).toContainEqual(expect.stringContaining('was removed'));
  });

  it('HN-3 is not reported for a statement that the blamed change added', async () => {
    const added: Edit = [file, audit, `${audit}  await track(user);\n`];
    const fix: Edit[] = [
      [file, '  await track(user);\n', ''],
      [file, 'const fee =', 'const fee = await'],
    ];
    expect(await findingsOf(fix, [added])).toEqual([]);
  });
});

describe('HN-3 a blamed change after the fix', () => {
  const other: Edit = [file, 'feeOf(body)', 'feeOf(body) / 2'];

  it('HN-3 is named once if the fix does not touch it', async () => {
    expect(await findingsOf([other], [tripled])).toEqual([`${fees}:2 still there`]);
    const guarded: Edit = [fees, 'return', 'if (price === null) return 0;\n  return'];
    const alike: Edit = [file, 'return save', 'if (user === null) return null;\n  return save'];
    expect(await findingsOf([alike], [guarded])).toEqual([`${fees}:2 still there`]);
    const beside: Edit = [file, 'feeOf(body)', 'feeOf(body.price)'];
    expect(await findingsOf([beside], [tripled])).toEqual([`${fees}:2 still there`]);
    const above: Edit = [fees, 'export', '// All of it.\nexport'];
    expect(await findingsOf([other, above], [tripled])).toEqual([`${fees}:3 still there`]);
  });

  it.each([
    ['reverts it', tripled, [[fees, 'price * 3', 'price * 2']]],
    ['changes it', tripled, [[fees, 'price * 3', 'price + price']]],
    [
      'adapts the app to it',
      [fees, 'price', 'net_price'],
      [[file, 'feeOf(body)', 'feeOf({ netPrice: body.sum })']],
    ],
    ['changes tests too', tripled, [other, ['tests/search.spec.ts', "'#search'", "'#find'"]]],
    ['need not touch it', ['package.json', '"^4.0.0"', '"^5.0.0"'], [other]],
  ] as [string, Edit, Edit[]][])('HN-3 is not named if the fix %s', async (_what, broken, fix) => {
    expect(await findingsOf(fix, [broken])).not.toContainEqual(expect.stringContaining('still there'));
  });
});
