import type { DiagnosedFailure } from '../core/cause.js';
import type { ConsoleEntry, NetworkEntry } from '../core/evidence.js';
import { clipped, counted, duration } from '../reporters/format.js';
import type { Detail } from './detail.js';
import { html, nothing, type Markup } from './markup.js';

/** What was gathered around a failure: the code, the error, console, network and the server's output. */
export function showEvidence({ evidence, diagnosis }: DiagnosedFailure, detail: Detail): Markup {
  const { console: entries, network, serverOutput, ariaSnapshot, errors, sources, missing, cut } = evidence;
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
                  <dd><code>${clipped(String(value), 600)}</code></dd>
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
    ${section(`Console (${entries.length})`, consoleTable(entries.slice(-detail.rows), entries.length), entries.length > 0)}
    ${section(`Network (${network.length})`, networkTable(network.slice(-detail.rows), network.length), network.length > 0)}
    ${section("The web server's output", block("The web server's output", tail(serverOutput.trim(), detail.text)), serverOutput.trim() !== '')}
    ${section('The page as a screen reader hears it', block('Accessibility snapshot', head(ariaSnapshot ?? '', detail.text)), (ariaSnapshot ?? '') !== '')}
    ${
      missing.length + cut.length > 0
        ? html`<ul class="quiet" aria-label="What is not here">
            ${[...missing, ...cut].map((one) => html`<li>${one}</li>`)}
          </ul>`
        : ''
    }
  `;
}

const factNames: Record<string, string> = {
  source: 'own code',
  sql: 'SQL',
  sqlState: 'SQLSTATE',
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

/** It scrolls on its own, and so must be reachable by keyboard. */
function block(label: string, text: string): Markup {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;
}

function consoleTable(entries: readonly ConsoleEntry[], all: number): Markup {
  return html`${shownOf(entries.length, all)}
    <div class="wide" tabindex="0" role="group" aria-label="Console">
      <table>
        <thead>
          <tr>
            <th scope="col">kind</th>
            <th scope="col">text</th>
            <th scope="col">where</th>
          </tr>
        </thead>
        <tbody>
          ${entries.map(
            ({ type, text, location }) =>
              html`<tr class="${type === 'error' || type === 'pageerror' ? 'trouble' : ''}">
                <td>${type}</td>
                <td>${clipped(text, 600)}</td>
                <td>${clipped(location, 160)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function networkTable(entries: readonly NetworkEntry[], all: number): Markup {
  return html`${shownOf(entries.length, all)}
    <div class="wide" tabindex="0" role="group" aria-label="Network">
      <table>
        <thead>
          <tr>
            <th scope="col">request</th>
            <th scope="col">answer</th>
            <th scope="col">time</th>
            <th scope="col">body</th>
          </tr>
        </thead>
        <tbody>
          ${entries.map(networkRow)}
        </tbody>
      </table>
    </div>`;
}

function networkRow({
  method,
  url,
  status,
  failure,
  durationMs,
  responseBody,
  requestBody,
}: NetworkEntry): Markup {
  const bad = failure !== null || (status ?? 0) >= 400;
  const bodies = bad ? [requestBody, responseBody].filter((one) => one !== null && one !== '') : [];
  return html`<tr class="${bad ? 'trouble' : ''}">
    <td>${method} ${clipped(url, 300)}</td>
    <td>${status ?? failure ?? 'none'}</td>
    <td>${durationMs === null ? '' : duration(durationMs)}</td>
    <td>${bodies.map((body) => html`<div><code>${clipped(body ?? '', 300)}</code></div>`)}</td>
  </tr>`;
}

function shownOf(shown: number, all: number): Markup {
  return shown < all
    ? html`<p class="quiet">The last ${shown} of ${counted(all, 'entry', 'entries')}.</p>`
    : nothing;
}

function head(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}\n… cut here` : text;
}

function tail(text: string, length: number): string {
  return text.length > length ? `cut here …\n${text.slice(-length)}` : text;
}
