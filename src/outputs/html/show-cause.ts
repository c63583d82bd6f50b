import { howSure } from '../../core/diagnosis.js';
import { isResolved } from '../../core/verdict.js';
import type { ReportCause, ReportTest } from '../../run/report.js';
import { cut } from '../cut.js';
import { counted, dollars, duration, nameOf } from '../format.js';
import { suiteItself } from '../final-status.js';
import { verdictWords } from '../wording.js';
import type { Detail } from './detail.js';
import type { LoadedCause, LoadedRun } from './load-run.js';
import { firstItems, html, type Markup, nothing } from './markup.js';
import { showAttempts, showProof } from './show-attempts.js';
import { showOffers } from './show-offers.js';
import { showEvidence } from './show-evidence.js';
import { traceFiles } from '../../evidence/trace-files.js';
import { showTimeline } from './show-timeline.js';
import { isKept } from '../../core/attempt.js';
import { keptFiles, offersIn } from '../next-steps.js';
import { type Blame, blameLine } from '../../core/blame.js';

/** How a cause is shown. */
export interface CauseShown {
  readonly detail: Detail;
  /** Whether it is expanded initially. */
  readonly open: boolean;
}

/** Shows a cause as an expandable line with problem and result; inside are the change, the pictures, the reasons and the evidence. */
export function showCause(cause: ReportCause, run: LoadedRun, { detail, open }: CauseShown): Markup {
  const loaded = run.causes.get(cause.id) ?? empty;
  const group = loaded.now ? 'begun' : isResolved(cause.verdict) ? 'fixed' : 'left';
  const length = detail.body ? 240 : 120;
  const revealed = run.report.causes.filter((one) => one.parent === cause.id).map(({ id }) => id);
  const about = loaded.now ? testsOf(cause, run.tests) : cut(resultOf(cause, revealed), length);
  const headline = cut(cause.headline, length);
  const line = causeLine({ ...cause, headline }, { state: loaded.now ?? cause.verdict, about });
  const kind = `cause ${group}`;
  const found = cause.parent === null ? '' : 'found';
  if (!detail.body)
    return html`<div class="${kind} ${found}" id="${cause.id}" data-class="${cause.category}">
      <div class="head">${line}</div>
    </div>`;
  return html`<details
    class="${kind} ${found}"
    id="cause-${cause.id}"
    data-class="${cause.category}"
    ${open ? 'open' : ''}
  >
    <summary>${line}</summary>
    ${body(cause, run, { loaded, detail })}
  </details>`;
}

/** Shows a cause in one line: what was wrong, and its result. */
function causeLine(
  { id, category, headline }: Pick<ReportCause, 'id' | 'category' | 'headline'>,
  { state, about }: { state: ReportCause['verdict'] | NonNullable<LoadedCause['now']>; about: string },
): Markup {
  const words = state === 'working' || state === 'waiting' ? { word: state, sign: '…' } : verdictWords[state];
  return html`<span class="mark" aria-hidden="true">${words.sign}</span>
    <span class="line"
      ><span class="title">${headline}</span>
      <span class="quiet"><span class="id">${id}</span> · ${category} · ${about}</span></span
    >
    <span class="tag ${state}">${words.word}</span>`;
}

function body(
  cause: ReportCause,
  run: LoadedRun,
  { loaded, detail }: { loaded: LoadedCause; detail: Detail },
): Markup {
  const { id, headline, reason, parent, attempts } = cause;
  const spans = run.timeline.filter(({ causeId }) => causeId === id);
  const revealed = run.report.causes.filter((one) => one.parent === id);
  const effort = effortOf(cause);
  return html`<article id="${id}" aria-labelledby="${id}-heading">
    <h3 id="${id}-heading" class="unseen">${id} ${cut(headline, 400)}</h3>
    ${showBlame(cause.blame)} ${loaded.now ? '' : html`<p class="reason">${reason}</p>`}
    <p class="quiet">${effort === '' ? '' : `${effort} · `}${testsOf(cause, run.tests)}</p>
    ${parent === null ? '' : html`<p class="quiet">Found after <a href="#${parent}">${parent}</a>, whose fix revealed it.</p>`}
    ${revealed.length > 0 ? html`<p class="quiet">Its fix revealed ${revealed.slice(0, 20).map((one, at) => html`${at > 0 ? ', ' : ''}<a href="#${one.id}">${one.id}</a>`)}.</p>` : ''}
    ${loaded.notes.map((note) => html`<p class="note">${note}</p>`)} ${showProof(cause)} ${tests(cause, run)}
    ${showOffered(cause, loaded, detail)} ${attempts.length > 0 ? html`<h4>Attempts</h4>` : ''}
    ${showAttempts(attempts, loaded.patches, detail)} ${pictures(cause, loaded)} ${showReasons(cause)}
    ${
      detail.rows > 0 && loaded.lead
        ? html`<h4>Evidence</h4>
            ${showEvidence(loaded.lead, detail)}`
        : ''
    }
    ${
      detail.rows > 0 && spans.length > 0
        ? html`<details>
            <summary>Timeline</summary>
            ${showTimeline(`Timeline of ${id}`, spans)}
          </details>`
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
function showOffered(cause: ReportCause, { patches }: LoadedCause, detail: Detail): Markup {
  const shown = offersIn(cause).map((one) => ({ ...one, text: patches.get(one.patch ?? '') ?? null }));
  return shown.length === 0
    ? nothing
    : html`<h4>Who is right?</h4>
        ${showOffers(shown, detail.diffLines)}`;
}

const empty: LoadedCause = {
  lead: null,
  before: null,
  after: null,
  patches: new Map(),
  now: null,
  notes: [],
};

function tests({ tests: ids }: ReportCause, run: LoadedRun): Markup {
  const known = ids.flatMap((id) => run.tests.get(id) ?? []);
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
function pictures({ id }: ReportCause, { lead, before, after }: LoadedCause): Markup {
  const step = lead?.evidence.failedStep ?? null;
  const url = lead?.evidence.pageUrl ?? null;
  if (step === null && before === null) return nothing;
  return html`<div class="pictures">
      ${picture(before, after === null ? 'The page when the test failed' : 'Before', `Screenshot of the page when the test of ${id} failed`)}
      ${picture(after, 'After the fix', `Screenshot of the page when the test of ${id} was green`)}
    </div>
    <p class="quiet">
      ${step === null ? '' : html`Failed step: <code>${cut(step, 300)}</code>`}${url === null ? '' : html` on <code>${cut(url, 300)}</code>`}
    </p>`;
}

/** Shows a picture with its caption; nothing if there is none. */
function picture(source: string | null, caption: string, alt: string): Markup {
  return source === null
    ? nothing
    : html`<figure>
        <figcaption>${caption}</figcaption>
        <img src="${source}" alt="${alt}" loading="lazy" />
      </figure>`;
}

/** Shows why a cause was classified the way it was. */
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
function resultOf(cause: ReportCause, revealed: readonly string[] = []): string {
  if (cause.verdict === 'superseded' && revealed.length > 0)
    return `fixed, which revealed ${revealed.slice(0, 5).join(', ')}`;
  const fix = cause.attempts.findLast((one) => one.judged === 'green' && isKept(one));
  if (fix?.claim?.summary) return fix.claim.summary;
  const files = keptFiles(cause).map(({ path }) => path);
  if (cause.verdict === 'healed' && files.length > 0) return `changed ${[...new Set(files)].join(', ')}`;
  return cause.reason;
}

/** Returns the tests of a cause: the first by name, and the number of others. */
function testsOf({ tests }: ReportCause, byId: ReadonlyMap<string, ReportTest>): string {
  const first = byId.get(tests[0] ?? '');
  if (!first) return suiteItself;
  const more = tests.length > 1 ? ` and ${counted(tests.length - 1, 'more test')}` : '';
  return `${cut(nameOf(first), 140)}${more}`;
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
