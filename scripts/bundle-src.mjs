// Modules of src/ for plain Node, as the build and the benchmarks want them; what users get is in dist/.
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';

// One step below the repository, as src/own-files.ts wants it.
const cache = fileURLToPath(new URL('../.cache/', import.meta.url));

/** Bundles a module of src/, named by its path there; gives the URL to import, which is good until the process ends. */
export async function bundleSrc(file) {
  const name = `${file.replaceAll(/\W/g, '-')}-${process.pid}.mjs`;
  mkdirSync(cache, { recursive: true });
  process.once('exit', () => rmSync(path.join(cache, name), { force: true }));
  await bundle({ input: { [name]: file }, to: cache, entryFileNames: '[name]', codeSplitting: false });
  return pathToFileURL(path.join(cache, name)).href;
}
