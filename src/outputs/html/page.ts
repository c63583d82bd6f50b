import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { exitWords, isKept, formatReview, wasReverted } from '../../model/attempt.js';
import { type Blame, describeBlame, isNarrowedDown } from '../../model/blame.js';
import { isBuiltIn } from '../../model/built-in.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { describeConfidence } from '../../model/diagnosis.js';
import { type Violation, formatNote } from '../../model/guard-findings.js';
import { describeProofScope } from '../../model/proof.js';
import { isResolved } from '../../model/verdict.js';
import { createTraceCommand } from '../../evidence/evidence-files.js';
import { buildTimeline, formatTimeline } from '../../evidence/timeline.js';
import { atMost, counted, dollars, duration, localTime } from '../../format.js';
import { ownFile } from '../../own-files.js';
import { readRunState } from '../../run/event-log.js';
import type { Report, ReportAttempt, ReportCause, ReportTest } from '../../run/report.js';
import { writeStateFile } from '../../state-folder.js';
import { truncate } from '../truncate.js';
import { type CauseView, describeEnd, listViolations, createView } from '../view.js';
import { formatCost, formatFile, formatReportTestName, outcomeWords, toSentence } from '../wording.js';
import { renderDiff, renderOffers } from './diff.js';
import { type LoadedCause, type LoadedRun, loadRun, type RunLocation } from './load-run.js';
import { html, type Markup, nothing, renderPreformatted, raw } from './markup.js';

/** Renders the page of a run: one file that opens from disk, needs no network, and runs no script. */
export function renderPage(run: LoadedRun, css: string): string {
  const { exitCode, outcome, project, runId, startedAt } = run.report;
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
        <title>self-heal: ${project}, ${outcome}</title>
        <style>
          ${raw(css)}
        </style>
      </head>
      <body>
        <header>
          <h1>self-heal <span>${project}</span></h1>
          <p class="quiet">
            ${runId} · ${localTime(startedAt)} ·
            ${exitCode === null ? 'did not finish' : `exit code ${exitCode}`}
          </p>
        </header>
        <main>
          <section aria-label="The run">${renderOutcome(run.report)}</section>
          ${renderRun(run)}
          <footer class="quiet">The run's folder: <code>${run.folder}/</code></footer>
        </main>
      </body>
    </html>`;
  return `${String(page)}\n`;
}

/** Writes `report.html` into the run's folder (RP-4) and returns its path. Throws if it cannot be written. */
export async function writeHtmlReport(report: Report, folder: RunLocation): Promise<string> {
  const page = renderPage(
    await loadRun(report, await readRunState(folder.dir), folder),
    await readFile(ownFile('outputs/html/page.css'), 'utf8'),
  );
  const file = path.join(folder.dir, 'report.html');
  writeStateFile(file, page);
  return file;
}

/** Renders how a run ended, and its figures. */
export function renderOutcome(report: Report): Markup {
  const { outcome, causes, shards, dryRun } = report;
  const healed = causes.filter(({ verdict }) => verdict === 'healed').length;
  // The result of a missing shard is unknown.
  const isPartial = outcome === 'green' && (shards?.missing.length ?? 0) > 0;
  return html`<p id="phase" role="status" class="${outcome}">
      ${isPartial ? 'All collected tests are green' : outcomeWords[outcome]}${healed > 0 && `, ${counted(healed, 'cause')} fixed`}
      ${dryRun && '(dry run: no agent was started)'}
    </p>
    ${renderFacts(listFigures(report))}`;
}

interface Fact {
  readonly name: string;
  readonly value: Markup | string;
}

/** Returns the figures of a run: its tests by result, its time and its costs. */
export function listFigures(report: Report): Fact[] {
  return [{ name: 'tests', value: String(report.totals.tests) }, ...createView(report).tallies];
}

/** Renders values with their names. */
export function renderFacts(facts: readonly Fact[]): Markup {
  const renderFact = ({ name, value }: Fact) =>
    html`<div>
      <dt>${name}</dt>
      <dd>${value}</dd>
    </div>`;
  return html`<dl>${facts.map(renderFact)}</dl>`;
}

/** How many remarks and questions are listed; the others are only counted. */
const MAX_ITEMS = 50;
/** How many causes are shown in full, those that are not fixed first; the others get one line each. */
const MAX_IN_FULL = 25;

/** Renders the result of a run so far, for `report.html` and the live page: fixed causes, the other causes, then the tests. */
export function renderRun(run: LoadedRun): Markup {
  const { report, view } = run;
  const { inProgress, fixed, notFixed } = groupCauses(run);
  const fullCauses = new Set([...notFixed, ...inProgress, ...fixed].slice(0, MAX_IN_FULL));
  const renderCauses = (causes: readonly CauseView[], id: string, title: string) =>
    causes.length > 0 &&
    html`<section aria-labelledby="${id}-heading" id="${id}">
      <h2 id="${id}-heading">${title} <span class="quiet">${causes.length}</span></h2>
      ${causes.map((cause) => renderCause(cause, run, fullCauses.has(cause)))}
    </section>`;
  return html`${renderCauses(inProgress, 'begun', 'In progress')} ${renderCauses(fixed, 'fixed', 'Fixed')}
  ${renderQuestions(report)} ${renderCauses(notFixed, 'left', 'Not fixed')}
  ${report.causes.length === 0 && report.exitCode !== null && html`<p>Nothing failed.</p>`}
  ${view.remarks.map(
    ({ title, items }) =>
      html`<section>
        <h2>${title}</h2>
        ${renderList(
          title,
          items.map((item) => truncate(item, 400)),
          MAX_ITEMS,
        )}
      </section>`,
  )}
  ${renderTests(report.tests)}`;
}

/** The causes by section: in progress, fixed, and not fixed. */
type Groups = Readonly<Record<'inProgress' | 'fixed' | 'notFixed', readonly CauseView[]>>;

/** Groups the causes by section. A cause and those that its fix revealed stay together; such a chain counts as fixed only if all of its causes are. */
function groupCauses({ report: { causes }, causes: loaded, view }: LoadedRun): Groups {
  const byId = new Map(view.causes.map((view) => [view.cause.id, view]));
  const chains = new Map<string, CauseView[]>();
  const chainIds = new Map<string, string>();
  for (const { id, parent } of causes) {
    const parentCause = byId.get(parent ?? '')?.cause;
    const key = parentCause?.verdict === 'superseded' ? (chainIds.get(parentCause.id) ?? id) : id;
    chainIds.set(id, key);
    const view = byId.get(id);
    if (view) chains.set(key, [...(chains.get(key) ?? []), view]);
  }
  const groups: Record<keyof Groups, CauseView[]> = { inProgress: [], fixed: [], notFixed: [] };
  for (const chain of chains.values()) {
    const isInProgress = chain.some(({ cause }) => loaded.get(cause.id)?.progress);
    const isFixed = chain.every(({ cause }) => isResolved(cause.verdict));
    groups[isInProgress ? 'inProgress' : isFixed ? 'fixed' : 'notFixed'].push(...chain);
  }
  return groups;
}

function renderQuestions({ escalations }: Report): Markup {
  if (escalations.length === 0) return nothing;
  return html`<section aria-labelledby="report-questions-heading" class="report-questions">
    <h2 id="report-questions-heading">Waiting for you</h2>
    ${escalations.slice(0, MAX_ITEMS).map(
      ({ id, causeId, question, stored }) =>
        html`<div class="card question">
          <p><a href="#${causeId}">${causeId}</a> ${question}</p>
          ${stored && html`<p>Decide with <code>npx self-heal escalations resolve ${id}</code> or <code>npx self-heal ui</code>.</p>`}
        </div>`,
    )}
  </section>`;
}

/** The maximum number of tests shown; report.json has them all. */
const MAX_TESTS = 200;

/** Lists the tests with their results and causes; tests that simply passed come last. */
function renderTests(tests: readonly ReportTest[]): Markup {
  if (tests.length === 0) return nothing;
  const rankByVerdict = ({ verdict }: ReportTest) => Number(verdict === 'passed');
  const ordered = tests.toSorted((a, b) => rankByVerdict(a) - rankByVerdict(b));
  const verdicts = [...new Set(ordered.map(({ verdict }) => verdict))];
  const counts = verdicts.map(
    (verdict) => `${tests.filter((test) => test.verdict === verdict).length} ${verdict}`,
  );
  const rows = ordered.slice(0, MAX_TESTS).map(
    (test) =>
      html`<tr class="${test.verdict}">
        <td><span class="tag ${test.verdict}">${test.verdict}</span></td>
        <td>${truncate(formatReportTestName(test), 140)}</td>
        <td>${test.causeIds.slice(0, 5).map((id) => html`<a href="#${id}">${id}</a> `)}</td>
        <td>${duration(test.durationMs)}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="tests-heading" id="tests">
    <h2 id="tests-heading">Tests</h2>
    <details id="all-tests">
      <summary>${counted(tests.length, 'test')}: ${counts.join(', ')}</summary>
      <div class="wide" tabindex="0" role="group" aria-label="All tests">
        <table>
          <thead>
            <tr>
              ${['result', 'test', 'cause', 'time'].map((column) => html`<th scope="col">${column}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </div>
      ${tests.length > MAX_TESTS && html`<p class="quiet">and ${tests.length - MAX_TESTS} more in report.json</p>`}
    </details>
  </section>`;
}

/** Renders a cause as one line with its problem and result; if shown in full, the line expands to the change, pictures, reasons and evidence. */
function renderCause(view: CauseView, run: LoadedRun, isFull: boolean): Markup {
  const { cause } = view;
  const { id, category, parent, verdict } = cause;
  const loaded = run.causes.get(id) ?? emptyContents;
  const revealed = run.report.causes.filter((other) => other.parent === id).map((other) => other.id);
  const maxLength = isFull ? 240 : 120;
  const { word, sign } = loaded.progress ? { word: loaded.progress, sign: '…' } : view.words;
  const line = html`<span class="mark" aria-hidden="true">${sign}</span>
    <div class="line">
      <h3>${truncate(cause.headline, maxLength)}</h3>
      <div class="quiet">
        ${id} · ${category} ·
        ${truncate(loaded.progress ? view.testLabel : describeResult(view, revealed), maxLength)}
      </div>
    </div>
    <span class="tag ${loaded.progress ?? verdict}">${word}</span>`;
  const group = loaded.progress ? 'begun' : isResolved(verdict) ? 'fixed' : 'left';
  const kind = `cause ${group}${parent === null ? '' : ' found'}`;
  if (!isFull)
    return html`<div class="${kind}" id="${id}">
      <div class="head">${line}</div>
    </div>`;
  const open = run.report.causes.length === 1 && 'open';
  return html`<details class="${kind}" id="cause-${id}" ${open}>
    <summary class="head">${line}</summary>
    ${renderFullCause(view, run, loaded, revealed)}
  </details>`;
}

/** Stands in for a cause whose files are missing. */
const emptyContents: LoadedCause = {
  lead: null,
  before: null,
  after: null,
  expected: null,
  difference: null,
  patches: new Map(),
  progress: null,
  notes: [],
};

function renderFullCause(
  { cause, testLabel, offers, tests }: CauseView,
  { report, folder }: LoadedRun,
  { lead, notes, progress, patches, ...pictures }: LoadedCause,
  revealed: readonly string[],
): Markup {
  const { id, attempts, evidence, headline, parent, proof, reason, testProofs } = cause;
  const links = revealed
    .slice(0, 20)
    .map((other, at) => html`${at > 0 && ', '}<a href="#${other}">${other}</a>`);
  const offersWithText = offers.map((offer) => ({ ...offer, text: patches.get(offer.patch ?? '') ?? null }));
  return html`<article id="${id}" aria-label="${id} ${truncate(headline, 400)}">
    ${cause.blame && renderBlame(cause.blame)} ${!progress && html`<p><strong>${reason}</strong></p>`}
    <p class="quiet">${[...describeEffort(cause), truncate(testLabel, 160)].join(' · ')}</p>
    ${parent !== null && html`<p class="quiet">Found after <a href="#${parent}">${parent}</a>, whose fix revealed it.</p>`}
    ${links.length > 0 && html`<p class="quiet">Its fix revealed ${links}.</p>`}
    ${notes.map((note) => html`<p class="note">${note}</p>`)}
    ${
      proof.length > 0 &&
      html`<p class="proof">
        <strong>Proof</strong
        >${proof.map((step, at) => html`${at > 0 && step !== proof[at - 1] ? ' | ' : ' '}<span class="tag ${step}">${step}</span>`)}
        <span class="quiet">${describeProofScope(testProofs)}</span>
      </p>`
    }
    ${
      tests.length > 1 &&
      renderSection(
        counted(tests.length, 'test'),
        renderList(
          'Tests',
          tests.map(
            (test) =>
              `${truncate(formatReportTestName(test), 300)}${test.sharedFix ? ', healed by the same fix' : ''}`,
          ),
          20,
        ),
      )
    }
    ${
      offersWithText.length > 0 &&
      html`<h4>Who is right?</h4>
        ${renderOffers(offersWithText, MAX_LINES)}`
    }
    ${attempts.length > 0 && html`<h4>Attempts</h4>`}
    ${attempts.map((attempt) => renderAttempt(attempt, patches.get(attempt.patch ?? '') ?? null))}
    ${renderPictures(id, lead?.evidence, pictures)} ${renderReasons(cause)}
    ${
      lead &&
      html`<h4>Evidence</h4>
        ${renderEvidence(lead)}`
    }
    <p class="quiet">
      All evidence: <code>${folder}/${evidence}/</code> or
      <code>npx self-heal inspect ${report.runId} ${id}</code>
    </p>
    ${
      lead?.evidence.trace &&
      html`<p class="quiet">
        Playwright's trace:
        <code>${createTraceCommand(`${folder}/${evidence}`)}</code>
      </p>`
    }
  </article>`;
}

/** Describes the result of a cause in one sentence: its agent's summary, else the changed files, else the reason of its verdict. */
function describeResult({ cause, files }: CauseView, revealed: readonly string[]): string {
  if (cause.verdict === 'superseded' && revealed.length > 0)
    return `fixed, which revealed ${revealed.slice(0, 5).join(', ')}`;
  const fix = cause.attempts.findLast(({ end }) => end.kind === 'green');
  if (fix?.claim?.summary) return fix.claim.summary;
  const paths = [...new Set(files.map((file) => file.path))];
  return cause.verdict === 'healed' && paths.length > 0 ? `changed ${paths.join(', ')}` : cause.reason;
}

/** Describes the effort: the last agent, and the time and cost of all attempts. */
function describeEffort({ attempts, costUsd }: ReportCause): string[] {
  const last = attempts.findLast(({ agent }) => agent !== null);
  const tookMs = attempts.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [
    ...(last?.agent ? [last.slashCommand ?? last.agent] : []),
    ...(attempts.length > 1 ? [counted(attempts.length, 'attempt')] : []),
    ...(tookMs > 0 ? [duration(tookMs)] : []),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ];
}

/** Renders the change that broke a test, with its lines (BL-3). */
function renderBlame(blame: Blame): Markup {
  return html`<p>${describeBlame(blame)}.</p>
    ${(isNarrowedDown(blame) ? blame.hunks : []).slice(0, 5).map(({ file, line, old, now, commit }) => {
      const lines = [...old.map((text) => `-${text}`), ...now.map((text) => `+${text}`)].slice(0, 40);
      return html`<p class="quiet">
          <code>${file}:${line}</code>
          ${commit && `· ${commit.id.slice(0, 7)} ${truncate(commit.subject, 120)} · ${commit.author}`}
        </p>
        ${renderPreformatted(`The change in ${file}`, lines.map((text) => truncate(text, 300)).join('\n'))}`;
    })}`;
}

/** The maximum number of lines of a diff. */
const MAX_LINES = 400;

/** Renders one attempt: the agent, its change, and the results of the guard and of the re-runs. */
function renderAttempt(attempt: ReportAttempt, patch: string | null): Markup {
  const { n, slashCommand, agent, runner, exit, end, claim, inputTokens, outputTokens, files } = attempt;
  const who =
    agent === null
      ? 'unchanged code, no agent'
      : slashCommand === null
        ? agent
        : `${slashCommand} (${runner})`;
  const tokens = inputTokens ?? outputTokens;
  const names = files.slice(0, 8).map(formatFile).join(', ');
  const title = `${counted(files.length, 'file')} changed: ${names}${files.length > 8 ? ' …' : ''}`;
  const status = isKept(attempt) ? '' : wasReverted(attempt) ? ', reverted' : ', not applied';
  return html`<div class="attempt">
    <p>
      <strong>Attempt ${n}: ${who}</strong>
      ${agent !== null && html`<span class="quiet">${exit && `${exitWords[exit]}, `}${duration(attempt.durationMs)}${formatCost(attempt)}${tokens !== null && `, ${inputTokens ?? 0} tokens in, ${outputTokens ?? 0} out`}</span>`}
    </p>
    <p class="judged ${end.kind}">${toSentence(describeEnd(attempt))}</p>
    ${claim?.summary && html`<p class="quiet">${isBuiltIn(attempt) ? claim.summary : `The agent said “${claim.status}”: ${claim.summary}`}</p>`}
    ${renderList(
      'Removed from the fix',
      attempt.cut.map(({ file, why }) => html`<code>${file}</code>: ${why}`),
    )}
    ${attempt.reading && html`<p class="quiet">Review by another agent: ${formatReview(attempt.reading)}</p>`}
    ${renderList('Findings of the guard', listViolations(attempt).map(renderViolation))}
    ${renderList(
      'To check',
      attempt.notes.map((note) => `To check: ${formatNote(note)}`),
    )}
    ${
      files.length > 0 &&
      (patch === null
        ? html`<p class="quiet">${title} ${attempt.patch && html`(<code>${attempt.patch}</code>)`}</p>`
        : renderSection(title + status, renderDiff(patch, MAX_LINES), status === ''))
    }
  </div>`;
}

function renderViolation({ file, line, rule, says, before, after }: Violation): Markup {
  const side = (kind: string, sign: string, text: string | null) =>
    text !== null && html`<div class="${kind}">${sign} <code>${truncate(text, 1000)}</code></div>`;
  return html`<strong>${rule}</strong> in <code>${file}${line !== null && `:${line}`}</code>: ${says}
    ${side('removed', '−', before)} ${side('added', '+', after)}`;
}

/** Renders the page when the test failed and, if there is a screenshot, after the fix. */
function renderPictures(
  id: string,
  evidence: DiagnosedFailure['evidence'] | undefined,
  { before, after, expected, difference }: Pick<LoadedCause, 'before' | 'after' | 'expected' | 'difference'>,
): Markup {
  const { failedStep = null, pageUrl = null } = evidence ?? {};
  if (failedStep === null && before === null) return nothing;
  const picture = (source: string | null, caption: string, alt: string) =>
    source !== null &&
    html`<figure>
      <figcaption class="quiet">${caption}</figcaption>
      <img src="${source}" alt="${alt}" loading="lazy" />
    </figure>`;
  return html`<div class="side-by-side">
      ${picture(before, after === null ? 'The page when the test failed' : 'Before', `Screenshot of the page when ${id}'s test failed`)}
      ${picture(expected, 'Expected', `What the screenshot comparison of ${id} expects`)}
      ${picture(difference, 'Difference', `The difference between ${id}'s page and the expected picture`)}
      ${picture(after, 'After the fix', `Screenshot of the page when ${id}'s test was green`)}
    </div>
    <p class="quiet">
      ${failedStep !== null && html`Failed step: <code>${truncate(failedStep, 300)}</code>`}
      ${pageUrl !== null && html`on <code>${truncate(pageUrl, 300)}</code>`}
    </p>`;
}

function renderReasons({ why, category, warning, confidence, alternatives }: ReportCause): Markup {
  const distinct = [
    ...new Map(why.map((reason) => [`${reason.source}: ${reason.evidence}`, reason])).values(),
  ];
  const alternativesText = alternatives.length > 0 ? `; it may be ${alternatives.join(' or ')}` : '';
  return html`<h4>Why ${category}</h4>
    ${warning !== null && html`<p>${warning}</p>`}
    ${renderList(
      'Reasons',
      distinct
        .slice(0, 6)
        .map(
          ({ source, evidence, rule }) =>
            html`The ${source} says <code>${evidence}</code> <span class="quiet">(${rule})</span>`,
        ),
    )}
    ${why.length > 0 && html`<p class="quiet">How sure: ${describeConfidence(confidence)}${alternativesText}.</p>`}`;
}

/** The maximum length of a text (stack, timeline, snapshot) in characters. */
const MAX_TEXT = 12_000;

const factNames: Record<string, string> = {
  source: 'own code',
  sql: 'SQL',
  sqlState: 'Database error',
  endpoint: 'request',
};

/** Renders the evidence of a failure: the code, the error and the timeline. */
function renderEvidence({ evidence, diagnosis }: DiagnosedFailure): Markup {
  const { ariaSnapshot, errors, otherRun, sources } = evidence;
  const knownFacts = Object.entries(diagnosis.facts).filter(
    ([name, value]) => value !== null && name !== 'errorType',
  );
  const facts = knownFacts.map(([name, value]) => ({
    name: factNames[name] ?? name,
    value: html`<code>${truncate(String(value), 600)}</code>`,
  }));
  const other =
    otherRun?.run === 'first' ? 'Different error in the first run' : 'Different error in the second run';
  return html`${facts.length > 0 && renderFacts(facts)}
  ${sources.slice(0, 5).map(
    ({ at, snippet }) =>
      html`<p class="quiet"><code>${at}</code></p>
        ${snippet !== null && renderPreformatted(`Code at ${at}`, snippet)}`,
  )}
  ${renderTextSection('Error and stack', clipText(errors.map(({ message, stack }) => stack ?? message).join('\n\n')))}
  ${renderTextSection(other, clipText((otherRun?.errors ?? []).map(({ message }) => message).join('\n\n')))}
  ${renderTextSection('What happened, in order', formatTimeline(buildTimeline(evidence, { diagnosis }), MAX_TEXT))}
  ${renderTextSection('Accessibility snapshot', clipText(ariaSnapshot ?? ''))}
  ${renderList('Missing evidence', [...evidence.missing, ...evidence.cut], Infinity)}`;
}

function renderSection(title: string, content: Markup | false, isOpen = false): Markup {
  return html`<details ${isOpen && 'open'}>
    <summary>${title}</summary>
    ${content}
  </details>`;
}

function renderTextSection(title: string, text: string): Markup | false {
  return text !== '' && renderSection(title, renderPreformatted(title, text));
}

/** Renders a list, unless it is empty; items beyond `most` are only counted. */
function renderList(label: string, items: readonly (Markup | string)[], most = 20): Markup | false {
  return (
    items.length > 0 &&
    html`<ul aria-label="${label}">
      ${atMost(
        items.map((item) => html`<li>${item}</li>`),
        most,
        (hidden) => html`<li>and ${hidden} more</li>`,
      )}
    </ul>`
  );
}

function clipText(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n… truncated` : text;
}
