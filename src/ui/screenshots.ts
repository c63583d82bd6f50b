import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { readFailureRecords } from '../run/failure-record.js';
import { runIdsIn } from '../inspect/find-run.js';
import { screenshotTypes } from '../inspect/screenshot-types.js';
import type { Screenshot } from './screenshot.js';

/** The pictures of a run's failures; none for a run that there is not. */
export async function screenshotsOf(projectRoot: string, runId: string): Promise<Screenshot[]> {
  if (!(await runIdsIn(projectRoot)).includes(runId)) return [];
  const { failures } = await readFailureRecords(path.join(projectRoot, '.self-heal', 'runs', runId));
  return failures.flatMap(({ n, signature, failure, evidence }) => {
    const name = path.basename(evidence.screenshot ?? '');
    if (!(name in screenshotTypes)) return [];
    const testId = failure.scope === 'test' ? failure.test.id : null;
    return [{ signature, testId, url: `/runs/${runId}/failures/${n}/${name}` }];
  });
}

/** One picture with its type; null for anything that is no screenshot of a run of this project. */
export async function readScreenshot(
  projectRoot: string,
  asked: { readonly runId: string; readonly n: string; readonly name: string },
): Promise<{ bytes: Buffer; type: string } | null> {
  const type = Object.hasOwn(screenshotTypes, asked.name) ? screenshotTypes[asked.name] : undefined;
  if (!type || !/^[1-9]\d{0,5}$/.test(asked.n)) return null;
  if (!(await runIdsIn(projectRoot)).includes(asked.runId)) return null;
  const place = path.join('runs', asked.runId, 'failures', asked.n, asked.name);
  const file = path.join(projectRoot, '.self-heal', place);
  try {
    // A link that somebody, an agent say, put in its place leads out of the folder.
    const home = await realpath(path.join(projectRoot, '.self-heal'));
    if ((await realpath(file)) !== path.join(home, place)) return null;
    return { bytes: await readFile(file), type };
  } catch {
    return null;
  }
}
