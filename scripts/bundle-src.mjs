// Bundles modules of src/ for plain Node, for the build and the benchmarks. Users get dist/.
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';

// One level below the repository, where src/own-files.ts expects to be.
const cache = fileURLToPath(new URL('../.cache/', import.meta.url));

/** Bundles a module, named by its path below src/, and returns the URL to import, which is valid until the process ends. */
export async function bundleSrc(file) {
  const name = `${file.replaceAll(/\W/g, '-')}-${process.pid}.mjs`;
  mkdirSync(cache, { recursive: true });
  process.once('exit', () => rmSync(path.join(cache, name), { force: true }));
  await bundle({ input: { [name]: file }, to: cache, entryFileNames: '[name]', codeSplitting: false });
  return pathToFileURL(path.join(cache, name)).href;
}
