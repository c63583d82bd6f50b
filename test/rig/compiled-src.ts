import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { tempDirOfFile } from './temp-dir.js';

const repository = path.resolve(import.meta.dirname, '../..');
let compiled: string | null = null;

/**
 * Returns a folder with `src` compiled, for programs that tests start as separate processes. It is compiled once per test file and removed
 * after its tests.
 */
export function compiledSrc(): string {
  if (compiled === null || !existsSync(compiled)) compiled = compile();
  return compiled;
}

function compile(): string {
  const root = tempDirOfFile('src');
  writeFileSync(path.join(root, 'package.json'), '{ "type": "module" }');
  symlinkSync(path.join(repository, 'node_modules'), path.join(root, 'node_modules'), 'junction');
  const source = path.join(repository, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const entryPoints = files.filter((name) => name.endsWith('.ts')).map((name) => path.join(source, name));
  buildSync({ entryPoints, outbase: source, outdir: root, format: 'esm', target: 'es2022' });
  return root;
}
