import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compileInject } from '../../scripts/compile-inject.mjs';

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
  compileInject(target);
  return target;
}
