import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runFiles } from '../report-format.js';
import { dir, guarded } from './run-folder.js';

/** The limit for a suite that reads a great many files; later ones are not recorded. */
const maxFiles = 20_000;
const seen = new Set<string>();

function see(place: unknown): void {
  if (seen.size >= maxFiles) return;
  if (typeof place === 'string') seen.add(path.resolve(place));
  else if (place instanceof URL && place.protocol === 'file:') seen.add(fileURLToPath(place));
}

/** Wraps a function of `fs` so that its first argument is recorded; never affects the call itself. */
function watched<F extends (...args: never[]) => unknown>(original: F): F {
  const wrapped = function (this: unknown, ...args: never[]) {
    guarded('a file that the tests read was not noted', () => see(args[0]));
    return Reflect.apply(original, this, args);
  };
  // `fs.readFile` has a custom property for `util.promisify`, which has to be kept.
  return Object.assign(wrapped, original) as F;
}

/** Records from now on which files this process reads: modules, data, snapshots. */
export function watchReads(): void {
  fs.readFileSync = watched(fs.readFileSync);
  fs.openSync = watched(fs.openSync);
  fs.createReadStream = watched(fs.createReadStream);
  Object.assign(fs, { readFile: watched(fs.readFile), open: watched(fs.open) });
  fs.promises.readFile = watched(fs.promises.readFile);
  fs.promises.open = watched(fs.promises.open);
  // Updates `import { readFile } from 'node:fs/promises'` as well.
  syncBuiltinESMExports();
}

const foreign = /[\\/](?:node_modules|\.self-heal|\.git)[\\/]/;

/** When this process exits, writes the files it read and the modules it loaded: they belong to the tests (HN-4). */
export function noteLoadedFiles(): void {
  process.once('exit', () =>
    guarded('what the tests load was not noted', () => {
      if (!dir) return;
      for (const file of Object.keys(require.cache)) seen.add(file);
      const ours = [dir, import.meta.dirname].map((folder) => folder + path.sep);
      const files = [...seen].filter(
        (file) => !foreign.test(file) && !ours.some((one) => file.startsWith(one)),
      );
      if (files.length > 0) fs.appendFileSync(path.join(dir, runFiles.loaded), `${files.join('\n')}\n`);
    }),
  );
}
