import path from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { dir, guarded } from './run-folder.js';
import { withdrawPreload } from './preload.js';
import { noteLoadedFiles, watchReads } from './loaded-files.js';
import { listenToChildren } from './child-output.js';
import { captureTry } from './capture-try.js';

/** Playwright's root `test`; every later `test.extend()` inherits its fixtures. */
interface TestTypeImpl {
  readonly fixtures: {
    location: { file: string; line: number; column: number };
    fixtures: Record<string, [fixture: typeof captureTry, options: object]>;
  }[];
}

/** A worker's entry file: the first path up to about Playwright 1.58, the second in later versions. */
const workerEntry =
  /^(.*[\\/]playwright[\\/]lib)[\\/](?:common[\\/]process|worker[\\/]workerProcessEntry)\.js$/;

/**
 * Preloaded into Playwright's workers. Adds an automatic fixture to Playwright's root test in memory, so that neither
 * the user's config nor the tests change, and tests that record traces themselves still can.
 */
function install(lib: string): void {
  const { test } = require(path.join(lib, 'index.js')) as { test: object };
  const symbol = Object.getOwnPropertySymbols(test).find((one) => one.description === 'testType');
  if (!symbol) throw new Error('this Playwright has no test type to add a fixture to');
  const root = Reflect.get(test, symbol) as TestTypeImpl;
  root.fixtures.push({
    location: { file: import.meta.filename, line: 1, column: 1 },
    fixtures: {
      _selfHealCapture: [captureTry, { auto: 'all-hooks-included', box: 'self', timeout: 0 }],
    },
  });
}

if (isMainThread) {
  withdrawPreload();
  const lib = workerEntry.exec(process.argv[1] ?? '')?.[1];
  if (lib && dir) {
    guarded('servers of the suite cannot be listened to', () => listenToChildren(null));
    guarded('pages cannot be captured with this Playwright', () => install(lib));
    guarded('what the tests load cannot be noted', () => {
      watchReads();
      noteLoadedFiles();
    });
  }
}
