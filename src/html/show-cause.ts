import type { ReportCause, ReportTest } from '../reporters/report.js';
import { clipped, counted, dollars } from '../reporters/format.js';
import { nameOf } from '../reporters/summary.js';
import { suiteItself } from '../reporters/last-word.js';
import type { Detail } from './detail.js';
import type { LoadedCause, LoadedRun } from './load-run.js';
import { html, nothing, type Markup } from './markup.js';
import { showAttempts, showProof } from './show-attempts.js';
import { showEvidence } from './show-evidence.js';
import { showTimeline } from './show-timeline.js';

/** A cause as an article of the page: what it is, why we say so, what was done about it and what came of it. */
export function showCause(cause: ReportCause, run: LoadedRun, detail: Detail): Markup {
  const { id, headline, reason, category, parent, attempts } = cause;
  const loaded = run.causes.get(id) ?? empty;
  const spans = run.timeline.filter(({ causeId }) => causeId === id);
  return html`<article class="card" id="${id}" aria-labelledby="${id}-heading">
    <header>
      <p class="tags">
        <span class="tag">${category}</span>
        <span class="tag ${cause.verdict}">${verdictWord(cause)}</span>
        ${cause.costUsd === null ? '' : html`<span class="tag">${dollars(cause.costUsd)}</span>`}
      </p>
      <h3 id="${id}-heading"><span class="id">${id}</span> ${clipped(headline, 400)}</h3>
      ${tests(cause, run)}
      ${parent === null ? '' : html`<p class="quiet">It came to light under <a href="#${parent}">${parent}</a>.</p>`}
      <p class="reason">${reason}</p>
    </header>
    ${showProof(cause)} ${seen(cause, loaded)} ${why(cause)}
    ${attempts.length > 0 ? html`<h4>What was tried</h4>` : ''}
    ${showAttempts(attempts, loaded.patches, detail)}
    ${
      detail.evidence && spans.length > 0
        ? html`<details>
            <summary>When</summary>
            ${showTimeline(`When ${id} was worked on`, spans)}
          </details>`
        : ''
    }
    ${
      detail.evidence && loaded.lead
        ? html`<h4>What was seen</h4>
            ${showEvidence(loaded.lead, detail)}`
        : ''
    }
    <p class="quiet">
      Everything that was gathered: <code>${run.folder}/${cause.evidence}/</code> or
      <code>npx self-heal inspect ${run.report.runId} ${id}</code>
    </p>
  </article>`;
}

const empty: LoadedCause = { lead: null, picture: null, patches: new Map() };

/** The outcome words of HN-7. */
export function verdictWord({ verdict }: Pick<ReportCause, 'verdict'>): string {
  return verdict === 'rejected' ? 'rejected (tampering)' : verdict;
}

function tests({ tests: ids }: ReportCause, { report }: LoadedRun): Markup {
  const known = report.tests.filter(({ id }) => ids.includes(id));
  const [first, ...rest] = known;
  if (!first) return html`<p class="quiet">${suiteItself}</p>`;
  return html`<p class="quiet">${clipped(nameOf(first), 300)}</p>
    ${more(rest)}`;
}

function more(rest: readonly ReportTest[]): Markup {
  if (rest.length === 0) return nothing;
  const shown = rest.slice(0, 20);
  return html`<details>
    <summary>and ${counted(rest.length, 'more test')}</summary>
    <ul>
      ${shown.map((test) => html`<li>${clipped(nameOf(test), 300)}${test.sharedFix ? ', healed by the same fix' : ''}</li>`)}${rest.length > shown.length ? html`<li>and ${rest.length - shown.length} more</li>` : ''}
    </ul>
  </details>`;
}

function seen({ id }: ReportCause, { lead, picture }: LoadedCause): Markup {
  const step = lead?.evidence.failedStep ?? null;
  const url = lead?.evidence.pageUrl ?? null;
  if (step === null && picture === null) return nothing;
  return html`<figure class="seen">
    ${
      picture === null
        ? ''
        : html`<details open class="picture">
            <summary>The page at that moment</summary>
            <img src="${picture}" alt="Screenshot of the page when the test of ${id} failed" />
          </details>`
    }
    <figcaption>
      ${step === null ? '' : html`Failed step: <code>${clipped(step, 300)}</code>`}${url === null ? '' : html` on <code>${clipped(url, 300)}</code>`}
    </figcaption>
  </figure>`;
}

function why({ why: reasons, category, warning, confidence, alternatives }: ReportCause): Markup {
  const different = [...new Map(reasons.map((one) => [`${one.source}: ${one.evidence}`, one])).values()];
  const others = alternatives.length > 0 ? `; it may be ${alternatives.join(' or ')}` : '';
  return html`<h4>Why ${category}</h4>
    ${warning === null ? '' : html`<p>${warning}</p>`}
    <ul class="why">
      ${different.slice(0, 6).map(({ source, evidence, rule }) => html`<li>The ${source} says <code>${evidence}</code> <span class="quiet">(${rule})</span></li>`)}
    </ul>
    ${reasons.length > 0 ? html`<p class="quiet">${Math.round(confidence * 100)} % sure${others}.</p>` : ''}`;
}
