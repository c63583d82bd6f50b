import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const scripts = ['bench', 'scripts'].flatMap((folder) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => `${folder}/${name}`),
);

/** Returns the names that a script destructures from modules of src/, each with its module. Its types are not checked, so a rename can miss them. */
function listImportedNames(script: string): { readonly module: string; readonly name: string }[] {
  const text = readFileSync(path.join(root, script), 'utf8');
  const single = /const (\{[^}]*\}) = await import\(await bundleSrc\('([^']+)'\)\)/g;
  const several =
    /const \[([^\]]*)\] =\s+await Promise\.all\(\s*\[([^\]]*)\]\.map\(\s*async \(file\) => import\(/g;
  const pairs = [
    ...[...text.matchAll(single)].map(([, names = '', module = '']) => [names, module] as const),
    ...[...text.matchAll(several)].flatMap(([, targets = '', files = '']) => {
      const modules = [...files.matchAll(/'([^']+)'/g)].map(([, module = '']) => module);
      return (targets.match(/\{[^}]*\}|\w+/g) ?? []).map((names, at) => [names, modules[at] ?? ''] as const);
    }),
  ];
  return pairs.flatMap(([names, module]) =>
    names.startsWith('{')
      ? [...names.matchAll(/[{,]\s*(\w+)/g)].map(([, name = '']) => ({ module, name }))
      : [],
  );
}

it('FL-2 BL-1 the benchmarks and scripts take only names that src exports', () => {
  const taken = scripts.flatMap((script) => listImportedNames(script).map((one) => ({ script, ...one })));
  expect(taken.map(({ script }) => script)).toEqual(
    expect.arrayContaining(['bench/blame.mjs', 'bench/flaky.mjs', 'scripts/build.mjs']),
  );
  const missing = taken.filter(({ module, name }) => {
    const source = readFileSync(path.join(root, 'src', module), 'utf8');
    return !new RegExp(`^export (?:async )?(?:function\\*?|const|class) ${name}\\b`, 'm').test(source);
  });
  expect(missing).toEqual([]);
});
