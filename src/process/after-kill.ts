import { rm } from 'node:fs/promises';
import process from 'node:process';
import { sweep } from './end-processes.js';
import type { Watched } from './watchdog.js';

// The program that the watchdog becomes when self-heal was killed: ends everything of the run, then deletes its temporary folders.
const { runId, folders } = JSON.parse(process.argv[2] ?? '') as Watched;

const GRACE_MS = 500;
await sweep({ runId }, { graceMs: GRACE_MS });
for (const workDir of folders) {
  await sweep({ runId }, { workDir, graceMs: GRACE_MS });
  await rm(workDir, { recursive: true, force: true, maxRetries: 5 });
}
