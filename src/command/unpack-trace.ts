import { copyFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { rawTracePath } from '../run/mask-suite-folder.js';
import { hasStateFile, makeStateFolder, removeStatePath } from '../state-folder.js';
import { isInside } from '../paths.js';
import type { Session } from '../heal/session.js';

/** Moves the trace of a failed test out of its suite run's folder, which will be deleted. */
export async function moveTrace(runDir: string, n: number, trace: string): Promise<void> {
  const target = rawTracePath(runDir, n);
  makeStateFolder(path.dirname(target));
  // A test that records its own trace may write it anywhere.
  await (isInside(runDir, trace) ? rename(trace, target) : copyFile(trace, target));
}

/** Writes the contents of a failure's trace into the failure's folder and deletes the trace. Does nothing if there is no trace. */
export async function unpackTrace(
  { folder, settings, redactor }: Pick<Session, 'folder' | 'settings' | 'redactor'>,
  n: number,
): Promise<void> {
  const trace = rawTracePath(folder.dir, n);
  if (!hasStateFile(trace)) return;
  const { writeTraceFiles } = await import('../evidence/trace/write-trace-files.js');
  const request = { trace, limits: settings.evidence, redactor };
  await writeTraceFiles({ ...request, folder: await folder.makeFailureFolder(n) });
  await removeStatePath(trace);
}

/** Writes the trace contents of each cause's leading failure, for a person to read. */
export async function unpackTraces(
  opened: Pick<Session, 'folder' | 'settings' | 'redactor' | 'bus' | 'signal'>,
): Promise<void> {
  for (const { evidence } of opened.bus.getRun().causes) {
    if (opened.signal.aborted) return;
    await unpackTrace(opened, Number(path.posix.basename(evidence)));
  }
}
