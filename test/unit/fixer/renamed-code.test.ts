import { describe, expect, it } from 'vitest';
import { renamedCode, type RenamedCodeEvidence } from '../../../src/fixer/renamed-code.js';

const pages = "import { euros, totalOf } from './order.js';\nconst sum = totalOf(order) + cart.totalOf;\n";
const hunk = (old: string, now: string) => ({
  file: 'src/order.ts',
  old: [old],
  now: now === '' ? [] : [now],
});
const renaming = hunk('export const totalOf = (order: Order) =>', 'export const sumOf = (order: Order) =>');

function evidence(
  over: Partial<RenamedCodeEvidence> & { app?: Record<string, string> },
): RenamedCodeEvidence {
  const { app = { '/p/src/pages.ts': pages, '/p/src/other.ts': 'const totalOf = 1;\n' }, ...rest } = over;
  const sources = Object.entries(app).map(([file, text]) => ({ file, text }));
  return {
    said: '',
    sources: async () => ({ app: sources, tests: [] }),
    hunksAbout: async () => [renaming],
    folders: ['/p'],
    ...rest,
  };
}

const filesAfter = async (given: RenamedCodeEvidence) => {
  const found = await renamedCode(given);
  return typeof found === 'object' && found ? found.files.map(({ file, after }) => [file, after]) : found;
};

describe('BF-4 code follows a renaming of', () => {
  it.each([
    [
      'TypeScript',
      "src/pages.ts(1,17): error TS2305: Module '\"./order.js\"' has no exported member 'totalOf'.",
    ],
    [
      'TypeScript with a suggestion',
      "src/pages.ts:1:17 - error TS2724: '\"./order.js\"' has no exported member named 'totalOf'. Did you mean 'total'?",
    ],
    ['esbuild', '✘ [ERROR] No matching export in "src/order.ts" for import "totalOf"'],
    [
      'Rollup',
      'src/pages.ts (1:9): "totalOf" is not exported by "src/order.ts", imported by "src/pages.ts".',
    ],
    ['webpack', "export 'totalOf' (imported as 'totalOf') was not found in './order.js'"],
    ['Node', "SyntaxError: The requested module './order.js' does not provide an export named 'totalOf'"],
  ])('BF-4 an export, as reported by %s', async (_, said) => {
    expect(await filesAfter(evidence({ said }))).toEqual([
      [
        '/p/src/pages.ts',
        "import { euros, sumOf } from './order.js';\nconst sum = sumOf(order) + cart.totalOf;\n",
      ],
    ]);
  });

  it('BF-4 a property, only where TypeScript reports it as missing', async () => {
    const given = evidence({
      said: "src/sum.ts(2,6): error TS2339: Property 'cents' does not exist on type 'Item'.",
      app: { '/p/src/sum.ts': 'other.cents;\nitem.cents;\n', '/p/src/cents.ts': 'item.cents;\n' },
      hunksAbout: async () => [hunk('  readonly cents: number;', '  readonly priceInCents: number;')],
    });
    expect(await filesAfter(given)).toEqual([['/p/src/sum.ts', 'other.cents;\nitem.priceInCents;\n']]);
  });

  it.each([
    ['nothing if no change shows a renaming', [], null],
    [
      'nothing if only an import of it was removed',
      [hunk("import { totalOf } from './order.js';", '')],
      null,
    ],
    ['that it is gone if a change removed it', [hunk('export const totalOf = 1;', '')], 'gone'],
    [
      'nothing if it moved',
      [hunk('export const totalOf = 1;', ''), hunk('', 'export const totalOf = 1;')],
      null,
    ],
  ])('BF-3 BF-4 an export: says %s', async (_, hunks, answer) => {
    const said =
      "src/pages.ts(1,17): error TS2305: Module '\"./order.js\"' has no exported member 'totalOf'.";
    expect(await renamedCode(evidence({ said, hunksAbout: async () => hunks }))).toEqual(answer);
  });
});
