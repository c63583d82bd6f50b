import type { DiagnosedFailure } from '../../core/cause.js';
import type { TestError } from '../../core/failure.js';
import { type ConsoleEntry, type Evidence, hasFailed, type NetworkEntry } from '../../core/evidence.js';
import { cut } from '../cut.js';
import { counted, duration } from '../format.js';
import type { Detail } from './detail.js';
import { html, nothing, type Markup } from './markup.js';
import { showTable } from './show-table.js';

/** Shows what was gathered around a failure: the code, the error, console, network and the server's output. */
export function showEvidence({ evidence, diagnosis }: DiagnosedFailure, detail: Detail): Markup {
  const { console: entries, network, serverOutput, ariaSnapshot, errors, sources, missing } = evidence;
  const facts = Object.entries(diagnosis.facts).filter(
    ([name, value]) => value !== null && name !== 'errorType',
  );
  const texts = errors.map(({ message, stack }) => stack ?? message).join('\n\n');
  return html`
    ${
      facts.length > 0
        ? html`<dl class="known">
            ${facts.map(
              ([name, value]) =>
                html`<div>
                  <dt>${factNames[name] ?? name}</dt>
                  <dd><code>${cut(String(value), 600)}</code></dd>
                </div>`,
            )}
          </dl>`
        : ''
    }
    ${sources.slice(0, detail.sources).map(
      ({ at, snippet }) =>
        html`<figure>
          <figcaption><code>${at}</code></figcaption>
          ${snippet === null ? '' : block(`Code at ${at}`, snippet)}
        </figure>`,
    )}
    ${section('Error and stack', block('Error and stack', head(texts, detail.text)), texts !== '')}
    ${section(otherRunTitle(evidence.otherRun), block('Error of the other run', head(messagesOf(evidence.otherRun?.errors ?? []), detail.text)), evidence.otherRun !== undefined)}
    ${section(`Console (${entries.length})`, consoleTable(entries.slice(-detail.rows), entries.length), entries.length > 0)}
    ${section(`Network (${network.length})`, networkTable(network.slice(-detail.rows), network.length), network.length > 0)}
    ${section('Web server output', block('Web server output', tail(serverOutput.trim(), detail.text)), serverOutput.trim() !== '')}
    ${section('Accessibility snapshot', block('Accessibility snapshot', head(ariaSnapshot ?? '', detail.text)), (ariaSnapshot ?? '') !== '')}
    ${
      missing.length + evidence.cut.length > 0
        ? html`<ul class="quiet" aria-label="Missing evidence">
            ${[...missing, ...evidence.cut].map((one) => html`<li>${one}</li>`)}
          </ul>`
        : ''
    }
  `;
}

function otherRunTitle(other: Evidence['otherRun']): string {
  return other?.run === 'first'
    ? 'Error of the first run, which differs'
    : 'Error when it was run again, which differs';
}

function messagesOf(errors: readonly TestError[]): string {
  return errors.map(({ message }) => message).join('\n\n');
}

const factNames: Record<string, string> = {
  source: 'own code',
  sql: 'SQL',
  sqlState: 'Database error',
  endpoint: 'request',
};

function section(title: string, content: Markup, there: boolean): Markup {
  return there
    ? html`<details>
        <summary>${title}</summary>
        ${content}
      </details>`
    : nothing;
}

/** Scrolls on its own, so it must be reachable by keyboard. */
function block(label: string, text: string): Markup {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;
}

function consoleTable(entries: readonly ConsoleEntry[], all: number): Markup {
  const rows = entries.map(({ type, text, location }) => ({
    cells: [type, cut(text, 600), cut(location, 160)],
    bad: type === 'error' || type === 'pageerror',
  }));
  const table = showTable({ label: 'Console', columns: ['kind', 'text', 'where'], rows });
  return html`${shownOf(entries.length, all)}${table}`;
}

function networkTable(entries: readonly NetworkEntry[], all: number): Markup {
  const columns = ['request', 'answer', 'time', 'body'];
  const table = showTable({ label: 'Network', columns, rows: entries.map(networkRow) });
  return html`${shownOf(entries.length, all)}${table}`;
}

/** Shows bodies only for failed requests. */
function networkRow(entry: NetworkEntry) {
  const { method, url, status, failure, durationMs, responseBody, requestBody } = entry;
  const bad = hasFailed(entry);
  const bodies = bad ? [requestBody, responseBody].filter((one) => one !== null && one !== '') : [];
  const body = html`${bodies.map((one) => html`<div><code>${cut(one ?? '', 300)}</code></div>`)}`;
  const took = durationMs === null ? '' : duration(durationMs);
  return { cells: [`${method} ${cut(url, 300)}`, status ?? failure ?? 'none', took, body], bad };
}

function shownOf(shown: number, all: number): Markup {
  return shown < all
    ? html`<p class="quiet">The last ${shown} of ${counted(all, 'entry', 'entries')}.</p>`
    : nothing;
}

function head(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}\n… truncated` : text;
}

function tail(text: string, length: number): string {
  return text.length > length ? `truncated …\n${text.slice(-length)}` : text;
}
