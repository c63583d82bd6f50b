import { describe, expect, it } from 'vitest';
import { brokeBy, type Edit, edited, requestOf } from '../../../fixtures/guard/project.mjs';
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

/** The rules that a fix breaks in a project in which `edits` broke the test; the hunks are `named` ones where somebody edited them. */
async function rulesOf(fix: readonly Edit[], edits: readonly Edit[], named = hunksOf(edits)) {
  const request = requestOf(fix, 'runtime-error', [start, ...edits]);
  const { violations } = await judge({ ...request, broke: named });
  return violations.map(({ rule }) => rule);
}

const hunksOf = (edits: readonly Edit[]) => brokeBy(edits, edited([start]));

describe('HN-3 what broke the test may be taken out again', () => {
  it('HN-3 a refusal that the blamed change added may go, and is a check that is gone where nobody knows that', async () => {
    const fix: Edit[] = [[file, refusal, '']];
    expect(await rulesOf(fix, [broke])).toEqual([]);
    expect(await rulesOf(fix, [broke], [])).toEqual(['restraint-removed']);
  });

  it.each([
    ['goes', "  if (body.count > 9) throw new TypeError('too many');\n", ''],
    ['becomes a log', "throw new TypeError('too many')", "console.warn('too many')"],
  ])('HN-3 one that is older is a check that is gone: it %s', async (_what, from, to) => {
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

  it('HN-3 one that the blamed change only altered is older, and may be what it was', async () => {
    const altered: Edit = [file, 'body.count > 9', 'body.count > 2'];
    const whole = "  if (body.count > 2) throw new TypeError('too many');\n";
    expect(await rulesOf([[file, whole, '']], [altered])).toEqual(['restraint-removed']);
    expect(await rulesOf([[file, 'body.count > 2', 'body.count > 9']], [altered])).toEqual([]);
  });

  it('HN-3 a setting may be what it was before the test broke', async () => {
    const strict: Edit[] = [['tsconfig.json', '{ "compilerOptions": { "strict": true } }\n']];
    const fix: Edit[] = [['tsconfig.json', '{ "compilerOptions": {} }\n']];
    const from = edited([start, ['tsconfig.json', '{ "compilerOptions": {} }\n']]);
    expect(await rulesOf(fix, strict)).toEqual(['compiler-loosened']);
    expect(await rulesOf(fix, strict, brokeBy(strict, from))).toEqual([]);
  });

  it('HN-3 nothing is excused where the lines are others now, or stand there twice', async () => {
    const [hunk] = hunksOf([broke]);
    const others = [{ file, line: 3, old: [], now: ['  if (body.count < 4) throw new RangeError();'] }];
    expect(await rulesOf([[file, refusal, '']], [broke], others)).toEqual(['restraint-removed']);
    const moved = { file, line: 40, old: [], now: hunk?.now ?? [] };
    expect(await rulesOf([[file, refusal, '']], [broke], [moved])).toEqual([]);
    const text = `${refusal}\n${refusal}`;
    expect(withoutBlamed(text, [moved])).toBe(text);
  });

  it('HN-3 several hunks are taken out of their places', () => {
    const hunks = [
      { file, line: 1, old: ['a', 'b'], now: ['A'] },
      { file, line: 3, old: ['d'], now: [] },
      { file, line: 3, old: [], now: ['e'] },
    ];
    expect(withoutBlamed('A\r\nc\ne\n', hunks)).toBe('a\nb\nc\nd\n');
  });
});
