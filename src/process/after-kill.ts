import process from 'node:process';
import { removeCopy } from '../workspace/copy-folder.js';
import { sweep } from './end-processes.js';
import type { Watched } from './watchdog.js';

// The program that the watchdog becomes when self-heal was killed: ends everything of the run, then deletes its copy.
const { runId, folders } = JSON.parse(process.argv[2] ?? '') as Watched;

const GRACE_MS = 500;
await sweep({ runId }, { graceMs: GRACE_MS });
for (const workDir of folders) {
  await sweep({ runId }, { workDir, graceMs: GRACE_MS });
  await removeCopy(workDir);
}
