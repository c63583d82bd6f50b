import { counted } from '../format.js';
import { localTime } from '../local-time.js';
import type { Report } from '../../run/report.js';
import { talliesOf } from '../tallies.js';
import { outcomeWords } from '../wording.js';
import type { LoadedRun } from './loaded-run.js';
import { html, type Markup, raw } from './markup.js';
import { renderRun } from './render-run.js';

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
  const { totals, outcome, exitCode, runId, project, startedAt, dryRun } = report;
  const facts = [{ name: 'tests', value: String(totals.tests) }, ...talliesOf(report)];
  return html`<header>
      <h1>self-heal <span>${project}</span></h1>
      <p class="quiet">
        ${runId} · ${localTime(startedAt)} · ${exitCode === null ? 'did not finish' : `exit code ${exitCode}`}
      </p>
    </header>
    <section aria-label="The run" class="now">
      <p id="phase" class="${outcome}">
        ${phaseOf(report)}${dryRun ? ' (dry run: no agent was started)' : ''}
      </p>
      <dl>
        ${facts.map(
          ({ name, value }) =>
            html`<div>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>
    </section>`;
}

/** Returns the outcome, and how many causes were fixed. */
function phaseOf({ outcome, causes, shards }: Report): string {
  const healed = causes.filter(({ verdict }) => verdict === 'healed').length;
  const fixed = healed === 0 ? '' : `, ${counted(healed, 'cause')} fixed`;
  // The result of a missing shard is unknown.
  const isPart = outcome === 'green' && (shards?.missing.length ?? 0) > 0;
  return `${isPart ? 'All collected tests are green' : outcomeWords[outcome]}${fixed}`;
}
