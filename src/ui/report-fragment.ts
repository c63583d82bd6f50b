import { loadRun } from '../outputs/html/load-run.js';
import { renderRun } from '../outputs/html/render-run.js';
import { readRun, runIdsIn } from '../run/find-run.js';
import { readPicture } from '../inspect/pictures.js';
import { relativePath } from '../relative-path.js';

/** More than a report file may have, since people send those to each other. Here, screenshots are loaded only when they are viewed. */
const FRAGMENT_BYTES = 4_000_000;

/** Renders the result of a finished run as in its report.html, with screenshots as URLs; null if it left no report. */
export async function reportFragment(projectRoot: string, runId: string): Promise<string | null> {
  if (!(await runIdsIn(projectRoot)).includes(runId)) return null;
  const { report, dir } = await readRun(projectRoot, runId);
  if (report === null || report.exitCode === null) return null;
  const shown = relativePath(projectRoot, dir);
  const run = await loadRun(report, { dir, shown }, async (picture) => {
    const there = await readPicture(dir, picture);
    return there ? `/runs/${runId}/failures/${picture.n}/${picture.name}` : null;
  });
  return String(renderRun(run, FRAGMENT_BYTES));
}
