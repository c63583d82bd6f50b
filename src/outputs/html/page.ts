import { localTime } from '../format.js';
import type { Report } from '../../run/report.js';
import { type LoadedRun, type RunPlace, loadRun } from './load-run.js';
import { type Markup, html, raw } from './markup.js';
import { renderRun, showNow } from './run.js';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readRunState } from '../../run/event-log.js';
import { writeState } from '../../state-folder.js';
import { ownFile } from '../../own-files.js';

/** The maximum size of the page in bytes, not counting pictures. */
const PAGE_BYTES = 300 * 1000;

/** Renders the page of a run: one file that opens from disk, needs no network, and runs no script. */
export function renderPage(run: LoadedRun, css: string): string {
  const { report } = run;
  const head = header(report);
  const main = renderRun(run, PAGE_BYTES - Buffer.byteLength(css) - Buffer.byteLength(String(head)) - 1000);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>self-heal: ${report.project}, ${report.outcome}</title>
        <style>
          ${raw(css)}
        </style>
      </head>
      <body>
        ${head}
        <main>
          ${main}
          <footer class="quiet">
            <p>The run's folder: <code>${run.folder}/</code></p>
          </footer>
        </main>
      </body>
    </html>`;
  return `${String(page)}\n`;
}

function header(report: Report): Markup {
  const { exitCode, runId, project, startedAt } = report;
  return html`<header>
      <h1>self-heal <span>${project}</span></h1>
      <p class="quiet">
        ${runId} · ${localTime(startedAt)} · ${exitCode === null ? 'did not finish' : `exit code ${exitCode}`}
      </p>
    </header>
    <section aria-label="The run" class="now">${showNow(report)}</section>`;
}

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
