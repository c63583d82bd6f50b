import { copyFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { rawTracePath } from '../run/mask-suite-folder.js';
import { hasState, makeStateFolder, removeState } from '../state-folder.js';
import { isInside } from '../paths.js';
import type { Session } from '../heal/session.js';

/** Keeps the trace of a failed test from being deleted with its suite run. */
export async function keepTrace(runDir: string, n: number, trace: string): Promise<void> {
  const kept = rawTracePath(runDir, n);
  makeStateFolder(path.dirname(kept));
  // A test that records its own may leave it anywhere.
  await (isInside(runDir, trace) ? rename(trace, kept) : copyFile(trace, kept));
}

/** Writes the contents of a failure's trace into its folder, and deletes the trace itself. Without a trace, it does nothing. */
export async function showTrace(
  { folder, settings, redactor }: Pick<Session, 'folder' | 'settings' | 'redactor'>,
  n: number,
): Promise<void> {
  const trace = rawTracePath(folder.dir, n);
  if (!hasState(trace)) return;
  const { writeTraceFiles } = await import('../evidence/trace/write-trace-files.js');
  const request = { trace, limits: settings.evidence, redactor };
  await writeTraceFiles({ ...request, folder: await folder.failure(n) });
  await removeState(trace);
}

/** Does the same for the leading failure of each cause, for the person who looks at it. */
export async function showTraces(
  opened: Pick<Session, 'folder' | 'settings' | 'redactor' | 'bus' | 'signal'>,
): Promise<void> {
  for (const { evidence } of opened.bus.run().causes) {
    if (opened.signal.aborted) return;
    await showTrace(opened, Number(path.posix.basename(evidence)));
  }
}
