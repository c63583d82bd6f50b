import { rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { runFiles } from '../playwright/report-format.js';
import { maskFile } from '../secrets/mask-file.js';
import type { Masking } from '../secrets/masks.js';

/** What has been read when a suite run is over, and says nothing that the evidence does not say. */
const readAlready = [runFiles.report];
const logs = [runFiles.serverLog, runFiles.log, runFiles.problems];
/** What the workers and Playwright itself wrote: bodies, traces and attachments that nobody can mask. */
const unmaskable = [runFiles.captures, runFiles.output, runFiles.complaints, runFiles.servers];

/**
 * Masks the logs of a finished suite run in place (EV-9); a log that cannot be masked is taken away, and so are those of
 * a green run, which nobody has a question to (CL-4). What `dropUnmasked` removes stays until the failures are diagnosed.
 */
export async function maskSuiteFolder(
  suiteDir: string,
  { isRed, redactor }: { isRed: boolean; redactor: Masking },
): Promise<void> {
  for (const name of readAlready) await rm(path.join(suiteDir, name), { force: true });
  // Its paths may be of files that have a secret in their names; the guard reads the others.
  const loaded = path.join(suiteDir, runFiles.loaded);
  await maskFile(loaded, redactor).catch(() => rm(loaded, { force: true }));
  for (const name of logs) {
    const file = path.join(suiteDir, name);
    if (!isRed) await rm(file, { force: true });
    else await maskFile(file, redactor).catch(() => rm(file, { force: true, recursive: true }));
  }
}

/** Takes away what a suite run left that holds secrets and cannot be masked; what was needed of it is evidence now. */
export async function dropUnmasked(suiteDir: string): Promise<void> {
  // A folder of each failed test: by the thread pool, each of their files would be waited for.
  for (const name of unmaskable) {
    rmSync(path.join(suiteDir, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The same for all suite runs of a run, also those that nobody came to diagnose. */
export async function dropAllUnmasked(runDir: string): Promise<void> {
  const suites = path.join(runDir, 'suites');
  const names = await readdir(suites).catch(() => []);
  for (const name of names) await dropUnmasked(path.join(suites, name));
}
