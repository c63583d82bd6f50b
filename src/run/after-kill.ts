import process from 'node:process';
import { deleteAllUnmaskedFiles } from './mask-suite-folder.js';
import { removeCopy } from '../workspace/copy-folder.js';
import { endOwnedProcesses } from '../process/end-processes.js';
import { moveRunIntoProject } from './run-folder.js';
import type { WatchTargets } from './watchdog.js';

// The program that the watchdog runs after self-heal was killed: it ends every process of the run, deletes its copies and all files that may contain
// secrets, and moves the remaining files into the project.
const { runId, dir, finalDir, folders } = JSON.parse(process.argv[2] ?? '') as WatchTargets;

const GRACE_MS = 500;
await endOwnedProcesses({ runId }, { graceMs: GRACE_MS });
for (const workDir of folders) {
  await endOwnedProcesses({ runId }, { workDir, graceMs: GRACE_MS });
  await removeCopy(workDir);
}
await deleteAllUnmaskedFiles(dir);
await moveRunIntoProject({ dir, finalDir });
