import { copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from '../core/cause.js';
import { afterName } from '../inspect/pictures.js';
import { runFiles } from '../playwright/report-format.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { RunFolder } from '../run/run-folder.js';

type Run = Pick<SuiteRun, 'serverLog'>;

/** Keeps beside each failure the picture of its test's page in a run in which it passed, so that a report can show both. */
export async function keepGreenPictures(
  folder: Pick<RunFolder, 'failure'>,
  failures: readonly DiagnosedFailure[],
  run: Run,
): Promise<void> {
  for (const { n, failure } of failures) {
    const picture = greenFile({ failure }, run, 'png');
    // A test without a page has none, and a report does without.
    if (picture)
      await copyFile(picture, path.join(await folder.failure(n), afterName)).catch(() => undefined);
  }
}

/** The accessibility snapshots (YAML) of the pages of these tests in a run in which they passed, where there are any. */
export async function greenSnapshots(failures: readonly DiagnosedFailure[], run: Run): Promise<string[]> {
  const files = failures.flatMap((failure) => greenFile(failure, run, 'yml') ?? []);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => null)));
  return texts.filter((text) => text !== null);
}

function greenFile(
  { failure }: Pick<DiagnosedFailure, 'failure'>,
  { serverLog }: Run,
  kind: 'png' | 'yml',
): string | null {
  if (failure.scope !== 'test') return null;
  const name = `${failure.test.id.replaceAll(/[^\w-]/g, '_')}-0-green.${kind}`;
  return path.join(path.dirname(serverLog), runFiles.captures, name);
}
