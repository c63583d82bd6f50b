// Compiles the code that runs inside Playwright (src/playwright/inject) to CommonJS, file by file.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const source = fileURLToPath(new URL('../src/playwright/inject/', import.meta.url));

/** Compiles into a folder, which is created if missing. Types are not checked. */
export function compileInject(to) {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(source).filter((name) => name.endsWith('.cts'))) {
    const { outputText } = ts.transpileModule(readFileSync(path.join(source, file), 'utf8'), {
      fileName: file,
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
    });
    writeFileSync(path.join(to, file.replace(/\.cts$/, '.cjs')), outputText);
  }
}
