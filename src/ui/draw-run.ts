import { loadRun } from '../outputs/html/load-run.js';
import { html } from '../outputs/html/markup.js';
import { renderRun, showNow } from '../outputs/html/run.js';
import { readPicture } from '../run/pictures.js';
import { relativePath } from '../relative-path.js';
import { reportOf } from '../run/report-of.js';
import { runDirOf } from '../run/run-folder.js';
import type { RunState } from '../run/run-state.js';

/** The parts of the page as HTML, by the ids of the elements that they fill. */
export type Parts = Readonly<Record<string, string>>;

/** What the page shows while there is no run. */
export const noRun: Parts = {
  now: '<p id="phase" role="status">No run yet. A run appears here as soon as self-heal run starts.</p>',
};

/** Draws what a run is doing, and its figures. */
export function drawNow(run: RunState): Parts {
  return {
    project: String(html`${run.project}`),
    'run-id': `run ${run.runId}`,
    now: String(showNow(reportOf(run), run.ended ? null : run)),
  };
}

/** More than a report file may have, since people send those to each other. Here, screenshots are loaded only when they are viewed. */
const RESULT_BYTES = 1_000_000;

/** Draws the result of a run so far as in its report.html, with screenshots as URLs. */
export async function drawResult(projectRoot: string, run: RunState): Promise<Parts> {
  const dir = runDirOf(projectRoot, run.runId);
  const loaded = await loadRun(reportOf(run), run, {
    dir,
    shown: relativePath(projectRoot, dir),
    addressOf: async (picture) =>
      readPicture(dir, picture) && `/runs/${run.runId}/failures/${picture.n}/${picture.name}`,
  });
  return { result: String(renderRun(loaded, RESULT_BYTES)) };
}
