import { isMainThread } from 'node:worker_threads';
import { listenToChildren, withdrawPreload } from './child-output.js';
import { guarded } from './run-folder.js';

// Preloaded into the workers of a run that is traced: keeps the output of servers that fixtures and hooks start there.
if (isMainThread) {
  withdrawPreload();
  guarded('servers of the suite cannot be listened to', () => listenToChildren(null));
}
