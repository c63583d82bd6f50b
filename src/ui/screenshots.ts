import path from 'node:path';
import { readFailureRecords } from '../run/failure-record.js';
import { runIdsIn } from '../inspect/find-run.js';
import { isPicture, readPicture } from '../inspect/pictures.js';
import { runDirOf } from '../run/run-folder.js';
import type { Screenshot } from './screenshot.js';

/** The pictures of a run's failures; none for a run that there is not. */
export async function screenshotsOf(projectRoot: string, runId: string): Promise<Screenshot[]> {
  const dir = await folderOf(projectRoot, runId);
  const { failures } = dir === null ? { failures: [] } : await readFailureRecords(dir);
  return failures.flatMap(({ n, signature, failure, evidence }) => {
    const name = path.basename(evidence.screenshot ?? '');
    const testId = failure.scope === 'test' ? failure.test.id : null;
    return isPicture(name) ? [{ signature, testId, url: `/runs/${runId}/failures/${n}/${name}` }] : [];
  });
}

/** One picture with its type; null for anything that is no screenshot of a run of this project. */
export async function readScreenshot(
  projectRoot: string,
  { runId, n, name }: { readonly runId: string; readonly n: string; readonly name: string },
): Promise<{ bytes: Buffer; type: string } | null> {
  const dir = /^[1-9]\d{0,5}$/.test(n) ? await folderOf(projectRoot, runId) : null;
  return dir === null ? null : readPicture(dir, { n: Number(n), name });
}

async function folderOf(projectRoot: string, runId: string): Promise<string | null> {
  const isThere = (await runIdsIn(projectRoot)).includes(runId);
  return isThere ? runDirOf(projectRoot, runId) : null;
}
