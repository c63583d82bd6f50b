import { isMainThread } from 'node:worker_threads';
import { listenToChildren, withdrawPreload } from './child-output.js';
import { runGuarded } from './run-folder.js';

// Preloaded into the workers of a traced run, to log the output of servers that fixtures and hooks start there.
if (isMainThread) {
  withdrawPreload();
  runGuarded('the output of servers could not be logged', () => listenToChildren(null));
}
