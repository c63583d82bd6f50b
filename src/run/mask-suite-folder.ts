import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { runFiles } from '../playwright/report-format.js';
import type { Masking } from '../secrets/masks.js';
import { maskedStream } from '../secrets/masked-stream.js';

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
  // Its paths may be of files that have a secret in their names; the guard reads the others.
  const loaded = path.join(suiteDir, runFiles.loaded);
  await maskFile(loaded, redactor).catch(() => rm(loaded, { force: true }));
  for (const name of logs) {
    const file = path.join(suiteDir, name);
    if (!isRed) await rm(file, { force: true });
    else await maskFile(file, redactor).catch(() => rm(file, { force: true, recursive: true }));
  }
  // It says nothing that the evidence does not say. As long as it is there, the others may hold secrets.
  await rm(path.join(suiteDir, runFiles.report), { force: true });
}

/** Takes away what a suite run left that holds secrets and cannot be masked; what was needed of it is evidence now. */
export async function dropUnmasked(suiteDir: string): Promise<void> {
  const dropped = unmaskable.map((name) => path.join(suiteDir, name));
  await Promise.all(dropped.map(remove));
}

/** The same for all suite runs of a run, also those that nobody came to diagnose; of one that was cut off before its logs were masked nothing is left. */
export async function dropAllUnmasked(runDir: string): Promise<void> {
  const suites = path.join(runDir, 'suites');
  for (const name of await readdir(suites).catch(() => [])) {
    const suite = path.join(suites, name);
    await (existsSync(path.join(suite, runFiles.report)) ? remove(suite) : dropUnmasked(suite));
  }
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Masks a file in place, piece by piece: readers see the old one or the new one. Rejects where it cannot be read or
 * written.
 */
async function maskFile(file: string, masking: Masking): Promise<void> {
  const masked = `${file}.${process.pid}.masked`;
  try {
    await writeMasked(file, masked, masking);
    await rename(masked, file);
  } catch (error) {
    await rm(masked, { force: true });
    throw error;
  }
}

async function writeMasked(from: string, to: string, masking: Masking): Promise<void> {
  const out = await open(to, 'w');
  try {
    const ready: string[] = [];
    const stream = maskedStream(masking, (text) => ready.push(text));
    for await (const chunk of createReadStream(from, { highWaterMark: 256 * 1024 })) {
      stream.write(chunk as Buffer);
      await out.writeFile(ready.splice(0).join(''));
    }
    stream.end();
    await out.writeFile(ready.join(''));
  } finally {
    await out.close();
  }
}
