import { existsSync } from 'node:fs';
import path from 'node:path';
import { compileInject } from '../../scripts/compile-inject.mjs';
import { tempDirOfFile } from './temp-dir.js';

let compiled: Promise<string> | null = null;

/**
 * Returns a folder with `src/playwright/inject` bundled, so that tests of the sources never use a stale build. It is compiled once per
 * test file and removed after its tests.
 */
export async function compiledInject(): Promise<string> {
  if (compiled === null || !existsSync(await compiled)) compiled = compile();
  return compiled;
}

async function compile(): Promise<string> {
  const target = path.join(tempDirOfFile('inject'), 'inject');
  await compileInject(target);
  return target;
}
