const fs = require('node:fs') as typeof import('node:fs');
const path = require('node:path') as typeof import('node:path');
const { dir, guarded } = require('./run-folder.cjs') as import('./run-folder.cjs').Api;

/** Files of this size are no tests and no data of theirs; noting them would cost more than it says. */
const MAX_FILES = 20_000;

const seen = new Set<string>();
let isOn = false;

/** Takes down a file that this process opened: everything below the working directory but what is installed or ours. */
function see(place: unknown): void {
  if (seen.size >= MAX_FILES) return;
  const file =
    typeof place === 'string'
      ? place
      : place instanceof URL && place.protocol === 'file:'
        ? place.pathname
        : '';
  if (!path.isAbsolute(file) && file !== '') return void seen.add(path.resolve(file));
  if (file !== '') seen.add(file);
}

/** Runs before a function of `fs`, and never in its way. */
function watched<F extends (...args: never[]) => unknown>(original: F): F {
  const wrapped = function (this: unknown, ...args: never[]) {
    try {
      see(args[0]);
    } catch {
      // What cannot be noted is read all the same.
    }
    return Reflect.apply(original, this, args);
  };
  return Object.assign(wrapped, original) as unknown as F;
}

/**
 * Notes which files this process of Playwright's loads and reads from now on (modules, fixtures, data, snapshots), for whoever
 * judges changes of the tests (HN-4). Modules loaded before are taken from the module cache at the end.
 */
function noteLoadedFiles(): void {
  if (isOn || !dir) return;
  isOn = true;
  fs.readFileSync = watched(fs.readFileSync);
  fs.openSync = watched(fs.openSync);
  fs.readFile = watched(fs.readFile) as typeof fs.readFile;
  fs.open = watched(fs.open) as typeof fs.open;
  fs.createReadStream = watched(fs.createReadStream);
  fs.promises.readFile = watched(fs.promises.readFile);
  fs.promises.open = watched(fs.promises.open);
  process.once('exit', () => guarded('what the tests load was not noted', writeLoadedFiles));
}

/** Writes what was seen so far, one file a line. */
function writeLoadedFiles(): void {
  if (!dir) return;
  for (const file of Object.keys(require.cache)) seen.add(file);
  const own = path.dirname(dir);
  const files = [...seen].filter(
    (file) =>
      !/[\\/]node_modules[\\/]|[\\/]\.self-heal[\\/]|[\\/]\.git[\\/]/.test(file) &&
      !file.startsWith(own) &&
      !file.startsWith(__dirname),
  );
  if (files.length > 0) fs.appendFileSync(path.join(dir, 'loaded-files'), `${files.join('\n')}\n`);
}

const api = { noteLoadedFiles, writeLoadedFiles };
module.exports = api;
export type Api = typeof api;
