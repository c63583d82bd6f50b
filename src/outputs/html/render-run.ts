import { cut } from '../cut.js';
import { counted, duration, nameOf } from '../format.js';
import type { Report, ReportCause, ReportTest } from '../../run/report.js';
import { type Remark, remarksOf } from '../remarks.js';
import type { LoadedRun } from './load-run.js';
import { firstItems, html, type Markup, nothing } from './markup.js';
import { orderCauses } from './order-causes.js';
import { showCause, showCauseLine } from './show-cause.js';
import { showTable } from './show-table.js';

/** The maximum number of list items shown; the rest is counted. */
const ITEMS = 50;

/**
 * Renders the result of a run so far, for `report.html` and the live page: what was fixed, what is left, then the tests. Takes at most
 * `bytes`, not counting pictures; causes for which there is no more room are shown as a line.
 */
export function renderRun(run: LoadedRun, bytes: number): Markup {
  const { report } = run;
  const ordered = orderCauses(run);
  const [asked, after] = [questions(report), tail(run)];
  const room = bytes - sizeOf(asked) - sizeOf(after);
  // What is left to do gets room first.
  const shown = sectionsOf([...ordered.left, ...ordered.begun, ...ordered.fixed], run, room);
  const list = (causes: readonly ReportCause[], id: string, title: string) =>
    causes.length === 0
      ? nothing
      : html`<section aria-labelledby="${id}-heading" id="${id}">
          <h2 id="${id}-heading">${title} <span class="quiet">${causes.length}</span></h2>
          ${causes.map((cause) => shown.get(cause.id))}
        </section>`;
  return html`${list(ordered.begun, 'begun', 'In progress')} ${list(ordered.fixed, 'fixed', 'Fixed')} ${asked}
  ${list(ordered.left, 'left', 'Not fixed')}
  ${report.causes.length === 0 && report.exitCode !== null ? html`<p class="phase">Nothing failed.</p>` : ''}
  ${after}`;
}

/** What a cause takes that is shown as a line, in bytes. */
const LINE_BYTES = 1000;

function sectionsOf(causes: readonly ReportCause[], run: LoadedRun, bytes: number): Map<string, Markup> {
  const sections = new Map<string, Markup>();
  const open = causes.length === 1;
  let room = bytes - causes.length * LINE_BYTES;
  for (const cause of causes) {
    const whole = room > 0 ? showCause(cause, run, open) : nothing;
    room -= sizeOf(whole);
    sections.set(cause.id, room > 0 ? whole : showCauseLine(cause, run));
  }
  return sections;
}

/** Measures a section without its embedded pictures, which have a limit of their own. */
function sizeOf(section: Markup): number {
  return Buffer.byteLength(section.toString().replaceAll(/"data:image[^"]*"/g, '""'));
}

function questions({ escalations }: Report): Markup {
  if (escalations.length === 0) return nothing;
  return html`<section aria-labelledby="report-questions-heading" class="report-questions">
    <h2 id="report-questions-heading">Waiting for you</h2>
    ${escalations.slice(0, ITEMS).map(
      ({ id, causeId, question, stored }) =>
        html`<div class="card question">
          <p><a href="#${causeId}">${causeId}</a> ${question}</p>
          ${stored ? html`<p>Decide with <code>npx self-heal escalations resolve ${id}</code> or <code>npx self-heal ui</code>.</p>` : ''}
        </div>`,
    )}
  </section>`;
}

function tail({ report }: LoadedRun): Markup {
  return html`${remarksOf(report).map(showRemark)} ${showTests(report.tests)}`;
}

function showRemark({ title, items }: Remark): Markup {
  return html`<section>
    <h2>${title}</h2>
    <ul>
      ${firstItems(
        items.map((item) => html`<li>${cut(item, 400)}</li>`),
        ITEMS,
      )}
    </ul>
  </section>`;
}

/** The maximum number of tests shown; tests that did not simply pass come first, and report.json has them all. */
const ROWS = 200;

/** Lists the tests with their results and causes, those that did not simply pass first. */
function showTests(tests: readonly ReportTest[]): Markup {
  if (tests.length === 0) return nothing;
  const ordered = [
    ...tests.filter(({ verdict }) => verdict !== 'passed'),
    ...tests.filter(({ verdict }) => verdict === 'passed'),
  ];
  const verdicts = [...new Set(ordered.map(({ verdict }) => verdict))];
  const rows = ordered.slice(0, ROWS).map((test) => ({
    cells: [
      html`<span class="tag ${test.verdict}">${test.verdict}</span>`,
      cut(nameOf(test), 140),
      test.causeIds.length === 0
        ? ''
        : html`${test.causeIds.slice(0, 5).map((id) => html`<a href="#${id}">${id}</a> `)}`,
      duration(test.durationMs),
    ],
  }));
  const counts = verdicts.map(
    (verdict) => `${tests.filter((one) => one.verdict === verdict).length} ${verdict}`,
  );
  const summary = `${counted(tests.length, 'test')}: ${counts.join(', ')}`;
  const hidden = ordered.length - rows.length;
  return html`<section aria-labelledby="tests-heading" id="tests">
    <h2 id="tests-heading">Tests</h2>
    <details class="all-tests" id="all-tests">
      <summary>${summary}</summary>
      ${showTable({ label: 'All tests', columns: ['ended', 'test', 'cause', 'time'], rows })}
      ${hidden > 0 ? html`<p class="quiet">and ${hidden} more in report.json</p>` : ''}
    </details>
  </section>`;
}
