import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compileInject } from '../../scripts/compile-inject.mjs';

let compiled: Promise<string> | null = null;

/**
 * Returns a folder with `src/playwright/inject` bundled, so that tests of the sources never use a stale build. It is compiled once per
 * process and removed when the process ends.
 */
export async function compiledInject(): Promise<string> {
  compiled ??= compile();
  return compiled;
}

async function compile(): Promise<string> {
  const root = mkdtempSync(path.join(tmpdir(), 'self-heal inject '));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  const target = path.join(root, 'inject');
  await compileInject(target);
  return target;
}
