import { realpathSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { fixErrors } from '../../../src/fixer/code-fixes.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { tempDir } from '../../rig/temp-dir.js';

const compilerOptions = {
  strict: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  types: [],
};

function fixed(files: Record<string, string>, wrong = 'src/a.ts'): Record<string, string> | null {
  const dir = realpathSync(tempDir());
  writeInto(dir, { 'tsconfig.json': JSON.stringify({ compilerOptions, include: ['src'] }), ...files });
  const found = fixErrors(ts, [path.join(dir, wrong)]);
  const named = (file: string) => path.relative(dir, file).replaceAll(path.sep, '/');
  return found && Object.fromEntries(found.map(({ file, after }) => [named(file), after]));
}

const order = 'export interface Order { totalCents: number; id: string }\n';

describe('BF-3 the only code fix that TypeScript offers', { timeout: 60_000 }, () => {
  it.each([
    [
      'a missing import',
      'export const f = (o: Order) => o.id;\n',
      /import (?:type )?\{ Order \} from ["']\.\/o["']/,
    ],
    [
      'a missing await',
      'const get = async () => ({ id: 1 });\nexport async function f() {\n  return get().id;\n}\n',
      '(await get()).id',
    ],
  ])('BF-3 fixes %s', (_, text, expected) => {
    const after = fixed({ 'src/o.ts': order, 'src/a.ts': text })?.['src/a.ts'];
    if (typeof expected === 'string') expect(after).toContain(expected);
    else expect(after).toMatch(expected);
  });

  it.each([
    [
      'a missing property whose value is unknown',
      "import type { Order } from './o';\nexport const f = (): Order => ({ id: 'a' });\n",
    ],
    [
      'a name that is like another one',
      "import type { Order } from './o';\nexport const f = (o: Order) => o.totalCent;\n",
    ],
    ['a value of the wrong type', 'export const f = (): number => String(1);\n'],
    ['a name that two modules export', 'export const f = () => both;\n'],
    [
      'an error next to one that it can fix',
      "export const f = (o: Order) => o.id;\nexport const g: number = 'x';\n",
    ],
  ])('BF-3 leaves alone %s', (_, text) => {
    const twice = { 'src/b.ts': 'export const both = 1;\n', 'src/c.ts': 'export const both = 2;\n' };
    expect(fixed({ 'src/o.ts': order, ...twice, 'src/a.ts': text })).toBeNull();
  });
});
