import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from './core/cause.js';
import { afterName } from './inspect/screenshot-types.js';
import { runFiles } from './playwright/report-format.js';
import type { SuiteRun } from './playwright/suite-run.js';
import type { RunFolder } from './run-folder.js';

/** Keeps beside each failure the picture of its test's page in a run in which it passed, so that a report can show both. */
export async function keepGreenPictures(
  folder: Pick<RunFolder, 'failure'>,
  failures: readonly DiagnosedFailure[],
  run: Pick<SuiteRun, 'serverLog'>,
): Promise<void> {
  for (const { n, failure } of failures) {
    if (failure.scope !== 'test') continue;
    const name = `${failure.test.id.replaceAll(/[^\w-]/g, '_')}-0-green.png`;
    const picture = path.join(path.dirname(run.serverLog), runFiles.captures, name);
    // A test without a page has none, and a report does without.
    await copyFile(picture, path.join(await folder.failure(n), afterName)).catch(() => undefined);
  }
}
