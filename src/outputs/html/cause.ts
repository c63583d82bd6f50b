import { howSure } from '../../core/diagnosis.js';
import { isResolved } from '../../core/verdict.js';
import type { ReportAttempt, ReportCause } from '../../run/report.js';
import { cut } from '../cut.js';
import { counted, dollars, duration } from '../../format.js';
import { nameOf, costText, fileText, sentence } from '../wording.js';
import { type CauseView, endText, violationsOf } from '../view.js';
import { showDiff, showOffers } from './diff.js';
import type { LoadedCause, LoadedRun } from './load-run.js';
import { type Markup, firstItems, html, nothing } from './markup.js';
import { traceFiles } from '../../evidence/evidence-files.js';
import { exitWords, isKept, wasReverted } from '../../core/attempt.js';
import { type Blame, blameLine } from '../../core/blame.js';
import { type Note, noteLine, type Cut, type Violation } from '../../core/guard-findings.js';
import { isBuiltIn } from '../../core/built-in.js';
import { type ProofStep, proofScope } from '../../core/proof.js';
import type { DiagnosedFailure } from '../../core/cause.js';
import type { Evidence } from '../../core/evidence.js';
import { timelineOf, timelineText } from '../../evidence/timeline.js';

/** The maximum length of a text (stack, server output, snapshot) in characters. */
const TEXT = 12_000;
/** The maximum number of excerpts of the user's own code. */
const SOURCES = 5;
/** The maximum number of lines of a diff. */
const DIFF_LINES = 400;

/**
 * Shows a cause as a line with problem and result. In full, the line expands to the change, the pictures, the reasons and the evidence.
 */
export function showCause(view: CauseView, run: LoadedRun, isFull: boolean): Markup {
  const { cause } = view;
  const loaded = run.causes.get(cause.id) ?? empty;
  const group = loaded.now ? 'begun' : isResolved(cause.verdict) ? 'fixed' : 'left';
  const length = isFull ? 240 : 120;
  const revealed = run.report.causes.filter((one) => one.parent === cause.id).map(({ id }) => id);
  const about = cut(loaded.now ? view.about : resultOf(view, revealed), length);
  const headline = cut(cause.headline, length);
  const { word, sign } = loaded.now ? { word: loaded.now, sign: '…' } : view.words;
  const line = html`<span class="mark" aria-hidden="true">${sign}</span>
    <span class="line"
      ><span class="title">${headline}</span>
      <span class="quiet"><span class="id">${cause.id}</span> · ${cause.category} · ${about}</span></span
    >
    <span class="tag ${loaded.now ?? cause.verdict}">${word}</span>`;
  const kind = `cause ${group}`;
  const found = cause.parent === null ? '' : 'found';
  if (!isFull)
    return html`<div class="${kind} ${found}" id="${cause.id}" data-class="${cause.category}">
      <div class="head">${line}</div>
    </div>`;
  return html`<details
    class="${kind} ${found}"
    id="cause-${cause.id}"
    data-class="${cause.category}"
    ${run.report.causes.length === 1 ? 'open' : ''}
  >
    <summary>${line}</summary>
    ${body(view, run, loaded)}
  </details>`;
}

function body(view: CauseView, run: LoadedRun, loaded: LoadedCause): Markup {
  const { cause } = view;
  const { id, headline, reason, parent, attempts } = cause;
  const revealed = run.report.causes.filter((one) => one.parent === id);
  const effort = effortOf(cause);
  return html`<article id="${id}" aria-labelledby="${id}-heading">
    <h3 id="${id}-heading" class="unseen">${id} ${cut(headline, 400)}</h3>
    ${showBlame(cause.blame)} ${loaded.now ? '' : html`<p class="reason">${reason}</p>`}
    <p class="quiet">${effort === '' ? '' : `${effort} · `}${cut(view.about, 160)}</p>
    ${parent === null ? '' : html`<p class="quiet">Found after <a href="#${parent}">${parent}</a>, whose fix revealed it.</p>`}
    ${revealed.length > 0 ? html`<p class="quiet">Its fix revealed ${revealed.slice(0, 20).map((one, at) => html`${at > 0 ? ', ' : ''}<a href="#${one.id}">${one.id}</a>`)}.</p>` : ''}
    ${loaded.notes.map((note) => html`<p class="note">${note}</p>`)} ${showProof(cause)} ${tests(view)}
    ${showOffered(view, loaded)}
    ${
      attempts.length > 0
        ? html`<h4>Attempts</h4>
            <ol class="attempts">
              ${attempts.map((one) => html`<li>${showAttempt(one, loaded.patches.get(one.patch ?? '') ?? null)}</li>`)}
            </ol>`
        : ''
    }
    ${pictures(cause, loaded)} ${showReasons(cause)}
    ${
      loaded.lead
        ? html`<h4>Evidence</h4>
            ${showEvidence(loaded.lead)}`
        : ''
    }
    <p class="quiet">
      All evidence: <code>${run.folder}/${cause.evidence}/</code> or
      <code>npx self-heal inspect ${run.report.runId} ${id}</code>
    </p>
    ${
      loaded.lead?.evidence.trace
        ? html`<p class="quiet">
            Playwright's trace:
            <code>npx playwright show-trace ${run.folder}/${cause.evidence}/${traceFiles.trace}</code>
          </p>`
        : ''
    }
  </article>`;
}

/** Shows the patches of which a person has to choose one. */
function showOffered({ offers }: CauseView, { patches }: LoadedCause): Markup {
  const shown = offers.map((one) => ({ ...one, text: patches.get(one.patch ?? '') ?? null }));
  return shown.length === 0
    ? nothing
    : html`<h4>Who is right?</h4>
        ${showOffers(shown, DIFF_LINES)}`;
}

const empty: LoadedCause = {
  lead: null,
  before: null,
  after: null,
  expected: null,
  difference: null,
  patches: new Map(),
  now: null,
  notes: [],
};

function tests({ tests: known }: CauseView): Markup {
  if (known.length < 2) return nothing;
  return html`<details>
    <summary>${counted(known.length, 'test')}</summary>
    <ul>
      ${firstItems(
        known.map(
          (test) =>
            html`<li>${cut(nameOf(test), 300)}${test.sharedFix ? ', healed by the same fix' : ''}</li>`,
        ),
        20,
      )}
    </ul>
  </details>`;
}

/** Shows the page when the test failed and, if there is a screenshot, after the fix. */
function pictures({ id }: ReportCause, loaded: LoadedCause): Markup {
  const { lead, before, after, expected, difference } = loaded;
  const step = lead?.evidence.failedStep ?? null;
  const url = lead?.evidence.pageUrl ?? null;
  if (step === null && before === null) return nothing;
  return html`<div class="pictures">
      ${picture(before, after === null ? 'The page when the test failed' : 'Before', `Screenshot of the page when the test of ${id} failed`)}
      ${picture(expected, 'Expected', `What the screenshot comparison of ${id} expects`)}
      ${picture(difference, 'Difference', `Where the page of ${id} differs from what is expected`)}
      ${picture(after, 'After the fix', `Screenshot of the page when the test of ${id} was green`)}
    </div>
    <p class="quiet">
      ${step === null ? '' : html`Failed step: <code>${cut(step, 300)}</code>`}${url === null ? '' : html` on <code>${cut(url, 300)}</code>`}
    </p>`;
}

function picture(source: string | null, caption: string, alt: string): Markup {
  return source === null
    ? nothing
    : html`<figure>
        <figcaption>${caption}</figcaption>
        <img src="${source}" alt="${alt}" loading="lazy" />
      </figure>`;
}

function showReasons({ why: reasons, category, warning, confidence, alternatives }: ReportCause): Markup {
  const different = [...new Map(reasons.map((one) => [`${one.source}: ${one.evidence}`, one])).values()];
  const others = alternatives.length > 0 ? `; it may be ${alternatives.join(' or ')}` : '';
  return html`<h4>Why ${category}</h4>
    ${warning === null ? '' : html`<p>${warning}</p>`}
    <ul class="why">
      ${different.slice(0, 6).map(({ source, evidence, rule }) => html`<li>The ${source} says <code>${evidence}</code> <span class="quiet">(${rule})</span></li>`)}
    </ul>
    ${reasons.length > 0 ? html`<p class="quiet">How sure: ${howSure(confidence)}${others}.</p>` : ''}`;
}

/** Returns the result of a cause in one sentence: its agent's summary of the fix, or else what was changed, or else how it ended. */
function resultOf({ cause, files }: CauseView, revealed: readonly string[]): string {
  if (cause.verdict === 'superseded' && revealed.length > 0)
    return `fixed, which revealed ${revealed.slice(0, 5).join(', ')}`;
  const fix = cause.attempts.findLast(({ end }) => end.kind === 'green');
  if (fix?.claim?.summary) return fix.claim.summary;
  const paths = [...new Set(files.map(({ path }) => path))];
  if (cause.verdict === 'healed' && paths.length > 0) return `changed ${paths.join(', ')}`;
  return cause.reason;
}

/** Returns what it took: the last agent, and the time and cost of all attempts. */
function effortOf({ attempts, costUsd }: ReportCause): string {
  const last = attempts.findLast(({ agent }) => agent !== null);
  const took = attempts.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [
    ...(last?.agent ? [last.slashCommand ?? last.agent] : []),
    ...(attempts.length > 1 ? [counted(attempts.length, 'attempt')] : []),
    ...(took > 0 ? [duration(took)] : []),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ].join(' · ');
}

const HUNKS = 5;
const LINES = 40;

/** Shows the change that broke a test, with its lines (BL-3). */
function showBlame(blame: Blame | undefined): Markup | '' {
  if (!blame) return '';
  return html`<p>${blameLine(blame)}.</p>
    ${blame.hunks.slice(0, HUNKS).map(({ file, line, old, now, commit }) => {
      const who = commit ? ` · ${commit.id.slice(0, 7)} ${cut(commit.subject, 120)} · ${commit.author}` : '';
      const lines = [...old.map((one) => `-${one}`), ...now.map((one) => `+${one}`)];
      return html`<p class="quiet"><code>${file}:${line}</code>${who}</p>
        <pre>
${lines
            .slice(0, LINES)
            .map((one) => cut(one, 300))
            .join('\n')}</pre>`;
    })}`;
}

/** Shows one attempt: who tried what, what it changed, and what the guard and the re-runs said. */
function showAttempt(attempt: ReportAttempt, patch: string | null): Markup {
  const { n, slashCommand, agent, runner, exit, end, claim } = attempt;
  const who =
    agent === null
      ? 'unchanged code, no agent'
      : slashCommand === null
        ? agent
        : `${slashCommand} (${runner ?? ''})`;
  const took = `${exit === null ? '' : `${exitWords[exit]}, `}${duration(attempt.durationMs)}${spent(attempt)}`;
  return html`<p>
      <strong>Attempt ${n}: ${who}</strong>
      ${agent === null ? '' : html`<span class="fact">${took}</span>`}
    </p>
    <p class="judged ${end.kind}">${sentence(endText(attempt))}</p>
    ${claim?.summary ? html`<p class="quiet">${isBuiltIn(attempt) ? claim.summary : `The agent said “${claim.status}”: ${claim.summary}`}</p>` : ''}
    ${showCut(attempt.cut)} ${showViolations(violationsOf(attempt))} ${showNotes(attempt.notes)}
    ${showChange(attempt, patch)}`;
}

function spent(attempt: ReportAttempt): string {
  const { inputTokens, outputTokens } = attempt;
  const tokens =
    inputTokens === null && outputTokens === null
      ? ''
      : `, ${inputTokens ?? 0} tokens in, ${outputTokens ?? 0} out`;
  return `${costText(attempt)}${tokens}`;
}

function showCut(cut: readonly Cut[]): Markup {
  if (cut.length === 0) return nothing;
  return html`<ul class="cut" aria-label="What was left out of the fix">
    ${firstItems(
      cut.map(({ file, why }) => html`<li><code>${file}</code> was left out: ${why}</li>`),
      20,
    )}
  </ul>`;
}

function showViolations(violations: readonly Violation[]): Markup {
  if (violations.length === 0) return nothing;
  const line = (sign: '−' | '+', text: string | null) =>
    text === null
      ? ''
      : html`<div class="${sign === '+' ? 'added' : 'removed'}">
          <span class="sign">${sign}</span><code>${cut(text, 1000)}</code>
        </div>`;
  return html`<ul class="violations" aria-label="What the guard found">
    ${firstItems(
      violations.map(
        ({ file, line: at, rule, says, before, after }) =>
          html`<li>
            <strong>${rule}</strong> in <code>${file}${at === null ? '' : `:${at}`}</code>:
            ${says}${line('−', before)}${line('+', after)}
          </li>`,
      ),
      20,
    )}
  </ul>`;
}

function showNotes(notes: readonly Note[]): Markup {
  if (notes.length === 0) return nothing;
  return html`<ul class="notes" aria-label="To review">
    ${firstItems(
      notes.map((one) => html`<li>To review: ${noteLine(one)}</li>`),
      20,
    )}
  </ul>`;
}

function showChange(attempt: ReportAttempt, patch: string | null): Markup {
  const { files, patch: path } = attempt;
  if (files.length === 0) return nothing;
  const names = files.slice(0, 8).map(fileText).join(', ');
  const title = `${counted(files.length, 'file')} changed: ${names}${files.length > 8 ? ' …' : ''}`;
  if (patch === null)
    return html`<p class="quiet">${title}${path === null ? '' : html` (<code>${path}</code>)`}</p>`;
  const diff = showDiff(patch, DIFF_LINES);
  return !isKept(attempt)
    ? html`<details>
        <summary>${title}${wasReverted(attempt) ? ', reverted' : ', not applied'}</summary>
        ${diff}
      </details>`
    : html`<details open>
        <summary>${title}</summary>
        ${diff}
      </details>`;
}

/** Shows the runs that prove a heal, with a bar at each change of result, and how many tests they cover. */
function showProof({ proof, testProofs }: ReportCause): Markup {
  if (proof.length === 0) return nothing;
  const step = (one: ProofStep, at: number) =>
    html`${at > 0 && one !== proof[at - 1] ? ' | ' : ' '}<span class="step ${one}">${one}</span>`;
  return html`<p class="proof">
    <strong>Proof</strong>${proof.map(step)} <span class="quiet">${proofScope(testProofs)}</span>
  </p>`;
}

/** Shows what was gathered around a failure: the code, the error and what happened, in order. */
function showEvidence({ evidence, diagnosis }: DiagnosedFailure): Markup {
  const { ariaSnapshot, errors, sources, missing } = evidence;
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
    ${sources.slice(0, SOURCES).map(
      ({ at, snippet }) =>
        html`<figure>
          <figcaption><code>${at}</code></figcaption>
          ${snippet === null ? '' : block(`Code at ${at}`, snippet)}
        </figure>`,
    )}
    ${textSection('Error and stack', head(texts))}
    ${textSection(otherRunTitle(evidence.otherRun), head((evidence.otherRun?.errors ?? []).map(({ message }) => message).join('\n\n')))}
    ${textSection('What happened, in order', timelineText(timelineOf(evidence, { diagnosis }), TEXT))}
    ${textSection('Accessibility snapshot', head(ariaSnapshot ?? ''))}
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

function textSection(title: string, text: string): Markup {
  return section(title, block(title, text), text !== '');
}

/** Scrolls on its own, so it must be reachable by keyboard. */
function block(label: string, text: string): Markup {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;
}

function head(text: string): string {
  return text.length > TEXT ? `${text.slice(0, TEXT)}\n… truncated` : text;
}
