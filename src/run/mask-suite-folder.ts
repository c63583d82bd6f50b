import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { runFiles } from '../playwright/report-format.js';
import type { MaskFinder } from '../secrets/redactor.js';
import { hasStateFile, listStateFolder, removeStatePath } from '../state-folder.js';
import { createMaskedStream } from '../secrets/masked-stream.js';

const logs = [runFiles.serverLog, runFiles.log, runFiles.problems];
/** The subfolder of a run for the unmasked traces of failed tests, which a person may still open. */
const rawTraces = 'traces';
/** Output of Playwright and its servers, such as traces and attachments, which are not masked in place. */
const unmaskedFolders = [runFiles.output, runFiles.servers];

/**
 * Masks the logs of a finished suite run in place (EV-9). Deletes logs that cannot be masked, and all logs of a green run, which nobody needs (CL-4).
 * The files that `deleteUnmaskedFiles` deletes stay until the failures have been diagnosed.
 */
export async function maskSuiteFolder(
  suiteDir: string,
  { isRed, redactor }: { isRed: boolean; redactor: MaskFinder },
): Promise<void> {
  for (const name of logs) {
    const file = path.join(suiteDir, name);
    if (!isRed) await rm(file, { force: true });
    else await maskFile(file, redactor).catch(() => rm(file, { force: true, recursive: true }));
  }
  // The evidence contains its contents. As long as this file exists, the other files may be unmasked.
  await rm(path.join(suiteDir, runFiles.report), { force: true });
}

/** Deletes the files of a suite run that may contain secrets and cannot be masked; the evidence already contains the needed parts. */
export async function deleteUnmaskedFiles(suiteDir: string): Promise<void> {
  await Promise.all(unmaskedFolders.map((name) => removeStatePath(path.join(suiteDir, name))));
}

/**
 * Deletes the unmasked files of all suite runs of a run, including those that were never diagnosed. Deletes a suite run completely if it was killed
 * before its logs were masked.
 */
export async function deleteAllUnmaskedFiles(runDir: string): Promise<void> {
  const suites = path.join(runDir, 'suites');
  for (const name of listStateFolder(suites)) {
    const suite = path.join(suites, name);
    await (hasStateFile(path.join(suite, runFiles.report))
      ? removeStatePath(suite)
      : deleteUnmaskedFiles(suite));
  }
  await removeStatePath(path.join(runDir, rawTraces));
}

/** Returns the path of a failed test's trace as Playwright wrote it. */
export function rawTracePath(runDir: string, n: number): string {
  return path.join(runDir, rawTraces, `${n}.zip`);
}

/** Masks a file in place, in chunks; readers see either the old or the new file. Rejects if it cannot be read or written. */
async function maskFile(file: string, finder: MaskFinder): Promise<void> {
  const temporary = `${file}.${process.pid}.masked`;
  try {
    await writeMasked(file, temporary, finder);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeMasked(from: string, to: string, finder: MaskFinder): Promise<void> {
  const out = await open(to, 'w');
  try {
    const output: string[] = [];
    const stream = createMaskedStream(finder, (text) => output.push(text));
    for await (const chunk of createReadStream(from, { highWaterMark: 256 * 1024 })) {
      stream.write(chunk as Buffer);
      await out.writeFile(output.splice(0).join(''));
    }
    stream.end();
    await out.writeFile(output.join(''));
  } finally {
    await out.close();
  }
}
