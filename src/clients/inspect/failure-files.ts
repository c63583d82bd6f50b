import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import prettyBytes from 'pretty-bytes';
import { createTraceCommand, traceFiles } from '../../evidence/evidence-files.js';
import type { StoredRun } from '../../run/find-run.js';
import type { InspectedFailure } from './find-failure.js';

/** Lists the files of a failure with their sizes, and how to open its trace. */
export async function listFailureFiles(
  run: StoredRun,
  { failure }: InspectedFailure,
  cwd: string,
): Promise<string[]> {
  const folder = path.join(run.dir, 'failures', String(failure.n));
  const names: string[] = await readdir(folder).catch(() => []);
  const sorted = names.toSorted((a, b) => a.localeCompare(b));
  const lines = await Promise.all(
    sorted.map(async (name) => {
      const file = path.join(folder, name);
      return `${path.relative(cwd, file)}  ${prettyBytes((await stat(file)).size)}`;
    }),
  );
  return names.includes(traceFiles.trace)
    ? [...lines, createTraceCommand(path.relative(cwd, folder))]
    : lines;
}
