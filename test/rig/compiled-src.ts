import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { tempDirOfFile } from './temp-dir.js';

const repository = path.resolve(import.meta.dirname, '../..');
let compiled: string | null = null;

/**
 * Returns a folder with `src` compiled, for programs that tests start as separate processes. It is compiled once per test file and removed
 * after its tests.
 */
export function compiledSrc(): string {
  compiled ??= compile();
  return compiled;
}

function compile(): string {
  const root = tempDirOfFile('src');
  writeFileSync(path.join(root, 'package.json'), '{ "type": "module" }');
  symlinkSync(path.join(repository, 'node_modules'), path.join(root, 'node_modules'), 'junction');
  const source = path.join(repository, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(path.join(source, file), 'utf8'), {
      fileName: file,
      compilerOptions: { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022 },
    });
    const target = path.join(root, file.replace(/\.ts$/, '.js'));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  return root;
}
