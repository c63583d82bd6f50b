import { clipped, counted, duration } from '../format.js';
import type { ReportTest } from '../../run/report.js';
import { nameOf } from '../summary.js';
import { html, nothing, type Markup } from './markup.js';
import { group } from './show-filter.js';
import { showTable } from './show-table.js';

/** Of a large suite the first, and of those that did not simply pass more; who wants all has report.json. */
const ROWS = 200;

/** Every test with how it ended and its cause, what did not simply pass first; a filter where they ended differently. */
export function showTests(tests: readonly ReportTest[]): Markup {
  if (tests.length === 0) return nothing;
  const ordered = [
    ...tests.filter(({ verdict }) => verdict !== 'passed'),
    ...tests.filter(({ verdict }) => verdict === 'passed'),
  ];
  const verdicts = [...new Set(ordered.map(({ verdict }) => verdict))];
  const rows = ordered.slice(0, ROWS).map((test) => ({
    kind: test.verdict,
    cells: [
      html`<span class="tag ${test.verdict}">${test.verdict}</span>`,
      clipped(nameOf(test), 140),
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
    <details class="all-tests">
      <summary>${summary}</summary>
      ${
        verdicts.length > 1
          ? html`<div class="filters">
              ${group('Show', 'tests', [{ id: 'all', text: 'all' }, ...verdicts.map((id) => ({ id, text: id }))])}
            </div>`
          : ''
      }
      ${showTable({ label: 'All tests', columns: ['ended', 'test', 'cause', 'time'], rows })}
      ${hidden > 0 ? html`<p class="quiet">and ${hidden} more: report.json</p>` : ''}
    </details>
  </section>`;
}
