import process from 'node:process';
import { dropAllUnmasked } from './mask-suite-folder.js';
import { removeCopy } from '../workspace/copy-folder.js';
import { sweep } from '../process/end-processes.js';
import type { Watched } from './watchdog.js';

// The program that the watchdog runs after self-heal was killed: it ends every process of the run, then deletes its copies and
// whatever may hold secrets.
const { runId, dir, folders } = JSON.parse(process.argv[2] ?? '') as Watched;

const GRACE_MS = 500;
await sweep({ runId }, { graceMs: GRACE_MS });
for (const workDir of folders) {
  await sweep({ runId }, { workDir, graceMs: GRACE_MS });
  await removeCopy(workDir);
}
await dropAllUnmasked(dir);
