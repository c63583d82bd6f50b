import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Report } from '../../run/report.js';
import { readRunState } from '../../run/read-events.js';
import { writeState } from '../../state-folder.js';
import { ownFile } from '../../own-files.js';
import { loadRun, type RunPlace } from './load-run.js';
import { renderPage } from './render-page.js';

/** Writes `report.html` into the run's folder (RP-4) and returns its path. Throws if it cannot be written. */
export async function writeHtmlReport(report: Report, place: RunPlace): Promise<string> {
  const page = renderPage(
    await loadRun(report, await readRunState(place.dir), place),
    await readFile(ownFile('outputs/html/report.css'), 'utf8'),
  );
  const file = path.join(place.dir, 'report.html');
  await writeState(file, page);
  return file;
}
