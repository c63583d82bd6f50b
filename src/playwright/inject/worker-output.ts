import { isMainThread } from 'node:worker_threads';
import { logChildOutput, removePreload } from './child-output.js';
import { runGuarded } from './run-folder.js';

// Preloaded into the workers of a traced run, to log the output of servers that fixtures and hooks start there.
if (isMainThread) {
  removePreload();
  runGuarded('server output could not be logged', () => logChildOutput(null));
}
