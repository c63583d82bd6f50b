import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';

const source = path.resolve(import.meta.dirname, '../../src/playwright/inject');
let compiled: string | null = null;

/**
 * A folder with `src/playwright/inject` compiled, so that tests of the sources never meet a stale build. It is made once
 * in a process and gone when that ends.
 */
export function compiledInject(): string {
  compiled ??= compile();
  return compiled;
}

function compile(): string {
  const root = mkdtempSync(path.join(tmpdir(), 'self-heal inject '));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  const target = path.join(root, 'inject');
  mkdirSync(target);
  const files = readdirSync(source).filter((file) => file.endsWith('.cts'));
  for (const file of files) {
    const { outputText } = ts.transpileModule(readFileSync(path.join(source, file), 'utf8'), {
      fileName: file,
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
    });
    writeFileSync(path.join(target, file.replace(/\.cts$/, '.cjs')), outputText);
  }
  return target;
}
