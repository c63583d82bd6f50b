import { isMended, suiteItself } from '../reporters/last-word.js';
import { clipped, counted, dollars, duration } from '../reporters/format.js';
import type { Report, ReportCause, ReportTest } from '../reporters/report.js';
import { nameOf } from '../reporters/summary.js';
import { details } from './detail.js';
import type { LoadedRun } from './load-run.js';
import { html, nothing, raw, type Markup } from './markup.js';
import { showCause, verdictWord } from './show-cause.js';
import { showTable } from './show-table.js';
import { overview, showTimeline } from './show-timeline.js';

/** How large the page may be, in bytes, without pictures. */
const PAGE_BYTES = 300 * 1000;
/** Items of a list that are shown; the rest is counted. */
const ITEMS = 50;

/** The page of a run: one file that opens from the disk, needs no network and runs no script. */
export async function renderPage(run: LoadedRun, css: string): Promise<string> {
  const { report } = run;
  const causes = leftToDoFirst(report.causes);
  const around = { before: await head(report, causes), after: await tail(run) };
  const room = PAGE_BYTES - bytesOf(css) - bytesOf(around.before) - bytesOf(around.after) - 3000;
  const { sections, hidden } = await sectionsOf(causes, run, room);
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
        ${raw(around.before)}
        <main>
          ${questions(report)}
          ${
            causes.length > 0
              ? html`<section aria-labelledby="causes-heading">
                  <h2 id="causes-heading">Causes</h2>
                  ${sections.map((one) => raw(one))}${hidden > 0 ? html`<p>${counted(hidden, 'more cause')} did not fit here: <code>${run.folder}/report.json</code></p>` : ''}
                </section>`
              : html`<p class="phase">Nothing failed.</p>`
          }
          ${raw(around.after)}
        </main>
      </body>
    </html>`;
  return `${String(await page)}\n`;
}

/** Each cause in as much detail as its share of the room allows; what a big one takes is not there for those behind it. */
async function sectionsOf(causes: readonly ReportCause[], run: LoadedRun, bytes: number) {
  const sections: string[] = [];
  let room = bytes;
  for (const [at, cause] of causes.entries()) {
    const share = room / (causes.length - at);
    const section = await fitting(cause, run, share);
    const size = bytesOf(section) - (run.causes.get(cause.id)?.picture?.length ?? 0);
    if (size > room) break;
    room -= size;
    sections.push(section);
  }
  return { sections, hidden: causes.length - sections.length };
}

async function fitting(cause: ReportCause, run: LoadedRun, share: number): Promise<string> {
  const picture = run.causes.get(cause.id)?.picture?.length ?? 0;
  let section = '';
  for (const detail of details.filter(({ from }) => from <= share)) {
    section = String(await showCause(cause, run, detail));
    if (bytesOf(section) - picture <= share) break;
  }
  return section;
}

/** What a person has to look at stands before what is mended. */
function leftToDoFirst(causes: readonly ReportCause[]): ReportCause[] {
  return [...causes.filter((one) => !isMended(one)), ...causes.filter(isMended)];
}

async function head(report: Report, causes: readonly ReportCause[]): Promise<string> {
  const { totals, outcome, exitCode, runId, project, startedAt, dryRun } = report;
  const facts: [string, string | null][] = [
    ['passed', String(totals.passed)],
    ['healed', some(totals.healed)],
    ['flaky', some(totals.flaky)],
    ['failed', some(totals.failed)],
    ['not run', some(totals.notRun)],
    ['agent runs', some(totals.agentRuns)],
    ['avoided', some(totals.agentRunsAvoided)],
    ['cost', totals.costUsd === null ? null : dollars(totals.costUsd)],
    ['time', duration(totals.durationMs)],
  ];
  const page = html`<header>
      <h1>self-heal <span>${project}</span></h1>
      <p class="quiet">${runId} · ${startedAt} · exit code ${exitCode}</p>
    </header>
    <section aria-label="The run" class="now">
      <p id="phase" class="${outcome}">
        ${outcomes[outcome]}${dryRun ? ' (dry run: no agent was started)' : ''}
      </p>
      <dl>
        ${facts.map(([name, value]) =>
          value === null
            ? ''
            : html`<div>
                <dt>${name}</dt>
                <dd>${value}</dd>
              </div>`,
        )}
      </dl>
    </section>
    ${causes.length > 1 ? contents(causes, report.tests) : ''}`;
  return String(await page);
}

const outcomes: Record<Report['outcome'], string> = {
  green: 'Everything is green',
  red: 'Some tests are still red',
  escalated: 'A person is needed',
  paused: 'Paused: too many questions wait for a person',
  budget: 'Stopped: a limit was reached',
  'agent-unusable': 'Stopped: the agent program cannot work here',
  interrupted: 'Interrupted',
};

function contents(causes: readonly ReportCause[], tests: readonly ReportTest[]): Markup {
  const byId = new Map(tests.map((test) => [test.id, test]));
  const hidden = causes.length - ITEMS;
  return html`<nav aria-label="Causes">
    <ul class="contents">
      ${causes.slice(0, ITEMS).map(
        (cause) =>
          html`<li>
            <span class="tag ${cause.verdict}">${verdictWord(cause)}</span>
            <a href="#${cause.id}">${cause.id} ${clipped(cause.headline, 120)}</a>
            <span class="quiet">${cause.category} · ${testsOf(cause, byId)}</span>
          </li>`,
      )}
      ${hidden > 0 ? html`<li>and ${hidden} more</li>` : ''}
    </ul>
  </nav>`;
}

function testsOf({ tests }: ReportCause, byId: ReadonlyMap<string, ReportTest>): string {
  const first = byId.get(tests[0] ?? '');
  if (!first) return suiteItself;
  const more = tests.length > 1 ? ` and ${counted(tests.length - 1, 'more test')}` : '';
  return `${clipped(nameOf(first), 120)}${more}`;
}

function questions({ escalations }: Report): Markup {
  if (escalations.length === 0) return nothing;
  return html`<section aria-labelledby="questions-heading">
    <h2 id="questions-heading">Waiting for you</h2>
    ${escalations.slice(0, ITEMS).map(
      ({ id, causeId, question, stored }) =>
        html`<div class="card question">
          <p><a href="#${causeId}">${causeId}</a> ${question}</p>
          ${stored ? html`<p>Decide with <code>npx self-heal escalations resolve ${id}</code> or <code>npx self-heal ui</code>.</p>` : ''}
        </div>`,
    )}
  </section>`;
}

async function tail({ report, timeline, folder }: LoadedRun): Promise<string> {
  const { ring, warnings, tests, causes } = report;
  const named = (verdict: ReportTest['verdict']) =>
    tests.filter((test) => test.verdict === verdict).map(nameOf);
  const rows = overview(timeline);
  const page = html`
    ${list('Flaky: red, then green without a change; no agent was paid', named('flaky'))}
    ${list('In quarantine: still red, not failing the run', named('quarantined'))}
    ${list('Not run', named('not-run'))}
    ${
      ring
        ? html`<section>
            <h2>The tests around the fixes</h2>
            <p>${ringLine(ring)}</p>
          </section>`
        : ''
    }
    ${list('Warnings', warnings)}
    ${
      rows.length > 0 && causes.length > 0
        ? html`<section>
            <h2>When</h2>
            ${showTimeline('The run', rows)}
          </section>`
        : ''
    }
    ${allTests(tests)}
    <footer class="quiet">
      <p>The run's folder: <code>${folder}/</code></p>
    </footer>
  `;
  return String(await page);
}

function ringLine({ tests, leftOut, broke }: NonNullable<Report['ring']>): string {
  const left = leftOut > 0 ? `; there was no time for ${counted(leftOut, 'test')}` : '';
  const what =
    broke.length === 0
      ? 'nothing broke'
      : `${broke.map(({ causeId }) => causeId).join(', ')} broke others, and was taken back`;
  return `${counted(tests, 'test')} run again after healing: ${what}${left}.`;
}

function list(title: string, items: readonly string[]): Markup {
  if (items.length === 0) return nothing;
  const hidden = items.length - ITEMS;
  return html`<section>
    <h2>${title}</h2>
    <ul>
      ${items.slice(0, ITEMS).map((item) => html`<li>${clipped(item, 400)}</li>`)}${hidden > 0 ? html`<li>and ${hidden} more</li>` : ''}
    </ul>
  </section>`;
}

/** Of a large suite the first; who wants all has report.json. */
function allTests(tests: readonly ReportTest[]): Markup {
  const most = 200;
  const rows = tests.slice(0, most).map((test) => ({
    cells: [
      clipped(nameOf(test), 200),
      test.verdict,
      test.durationMs === undefined ? '' : duration(test.durationMs),
    ],
  }));
  return html`<details>
    <summary>All ${counted(tests.length, 'test')}</summary>
    ${showTable({ label: 'All tests', columns: ['test', 'ended', 'time'], rows })}
    ${tests.length > most ? html`<p class="quiet">and ${tests.length - most} more: report.json</p>` : ''}
  </details>`;
}

function some(count: number): string | null {
  return count > 0 ? String(count) : null;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
