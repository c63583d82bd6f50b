import { createRequire } from 'node:module';
import process from 'node:process';
import type TypeScript from 'typescript';
import { fixErrors } from './code-fixes.js';
import type { CodeFixRequest } from './run-code-fixes.js';

/** A separate process for the project's TypeScript, which takes seconds and hundreds of megabytes. */
process.on('message', ({ typescript, files }: CodeFixRequest) => {
  const ts = createRequire(typescript)(typescript) as typeof TypeScript;
  const fixed = typeof ts.createLanguageService === 'function' ? fixErrors(ts, files) : null;
  process.send?.(fixed, () => process.exit());
});
process.on('disconnect', () => process.exit());
