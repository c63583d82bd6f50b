import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isResolved } from '../../core/verdict.js';
import { ownFile } from '../../own-files.js';
import { readRunState } from '../../run/event-log.js';
import type { Report, ReportTest } from '../../run/report.js';
import type { CauseState, Phase, RunState } from '../../run/run-state.js';
import { writeState } from '../../state-folder.js';
import { cut } from '../cut.js';
import { counted, dollars, duration, localTime } from '../../format.js';
import { nameOf, capitalized, outcomeWords, verdictWords } from '../wording.js';
import { type CauseView, type Remark, type Tally, viewOf } from '../view.js';
import { phaseWords } from '../../run/phase-words.js';
import { showCause } from './cause.js';
import { type LoadedRun, loadRun, type RunPlace } from './load-run.js';
import { firstItems, html, type Markup, nothing, raw, showTable } from './markup.js';

/** Renders the page of a run: one file that opens from disk, needs no network, and runs no script. */
export function renderPage(run: LoadedRun, css: string): string {
  const { report } = run;
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
        ${header(report)}
        <main>
          ${renderRun(run)}
          <footer class="quiet">
            <p>The run's folder: <code>${run.folder}/</code></p>
          </footer>
        </main>
      </body>
    </html>`;
  return `${String(page)}\n`;
}

function header(report: Report): Markup {
  const { exitCode, runId, project, startedAt } = report;
  return html`<header>
      <h1>self-heal <span>${project}</span></h1>
      <p class="quiet">
        ${runId} · ${localTime(startedAt)} · ${exitCode === null ? 'did not finish' : `exit code ${exitCode}`}
      </p>
    </header>
    <section aria-label="The run" class="now">${showNow(report)}</section>`;
}

/** Writes `report.html` into the run's folder (RP-4) and returns its path. Throws if it cannot be written. */
export async function writeHtmlReport(report: Report, place: RunPlace): Promise<string> {
  const page = renderPage(
    await loadRun(report, await readRunState(place.dir), place),
    await readFile(ownFile('outputs/html/report.css'), 'utf8'),
  );
  const file = path.join(place.dir, 'report.html');
  writeState(file, page);
  return file;
}

/** The maximum number of list items shown; the rest is counted. */
const ITEMS = 50;

/** How many causes are shown in full, those first that are left to do; the others get a line each. */
const FULL = 25;

/** Renders the result of a run so far, for `report.html` and the live page: what was fixed, what is left, then the tests. */
export function renderRun(run: LoadedRun): Markup {
  const { report } = run;
  const ordered = orderCauses(run);
  const inFull = new Set([...ordered.left, ...ordered.begun, ...ordered.fixed].slice(0, FULL));
  const list = (causes: readonly CauseView[], id: string, title: string) =>
    causes.length === 0
      ? nothing
      : html`<section aria-labelledby="${id}-heading" id="${id}">
          <h2 id="${id}-heading">${title} <span class="quiet">${causes.length}</span></h2>
          ${causes.map((one) => showCause(one, run, inFull.has(one)))}
        </section>`;
  return html`${showFilter(ordered)} ${list(ordered.begun, 'begun', 'In progress')}
  ${list(ordered.fixed, 'fixed', 'Fixed')} ${questions(report)} ${list(ordered.left, 'left', 'Not fixed')}
  ${report.causes.length === 0 && report.exitCode !== null ? html`<p class="phase">Nothing failed.</p>` : ''}
  ${run.view.remarks.map(showRemark)} ${showTests(report.tests)}`;
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

/** Lists the tests with their results and causes, those that did not simply pass first, with a filter if the results differ. */
function showTests(tests: readonly ReportTest[]): Markup {
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
      ${
        verdicts.length > 1
          ? html`<div class="filters">
              ${radioGroup('Show', 'tests', [{ id: 'all', text: 'all' }, ...verdicts.map((id) => ({ id, text: id }))])}
            </div>`
          : ''
      }
      ${showTable({ label: 'All tests', columns: ['ended', 'test', 'cause', 'time'], rows })}
      ${hidden > 0 ? html`<p class="quiet">and ${hidden} more in report.json</p>` : ''}
    </details>
  </section>`;
}

/** With fewer causes, a filter is not worth its room. */
const FEWEST = 2;

/** Shows buttons that filter causes: on a page without scripts, the style sheet does this depending on which button is checked. */
function showFilter({ begun, fixed, left }: OrderedCauses): Markup {
  const causes = [...begun, ...fixed, ...left];
  if (causes.length < FEWEST) return nothing;
  const classes = [...new Set(causes.map(({ cause }) => cause.category))];
  return html`<div class="filters">
    ${
      fixed.length > 0 && left.length > 0
        ? radioGroup('Show', 'show', [
            { id: 'all', text: `all ${causes.length}` },
            { id: 'fixed', text: `fixed ${fixed.length}` },
            { id: 'left', text: `not fixed ${left.length}` },
          ])
        : ''
    }
    ${
      classes.length > 1
        ? radioGroup('Class', 'class', [
            { id: 'all', text: 'all' },
            ...classes.map((id) => ({
              id,
              text: `${id} ${causes.filter(({ cause }) => cause.category === id).length}`,
            })),
          ])
        : ''
    }
  </div>`;
}

/** Shows radio buttons, with the first one checked. */
function radioGroup(legend: string, name: string, choices: readonly { id: string; text: string }[]): Markup {
  return html`<fieldset class="filter">
    <legend>${legend}</legend>
    ${choices.map(
      ({ id, text }, at) =>
        html`<label
          ><input type="radio" name="${name}" id="${name}-${id}" ${at === 0 ? 'checked' : ''} /><span
            >${text}</span
          ></label
        >`,
    )}
  </fieldset>`;
}

/** Shows the outcome of a run and its figures; for a run that is going on, also what is being done. */
export function showNow(report: Report, live: RunState | null = null): Markup {
  const phase = live ? phaseOf(live) : outcomeOf(report);
  return html`<p id="phase" role="status" class="${live ? 'working' : report.outcome}">
      ${phase}${report.dryRun ? ' (dry run: no agent was started)' : ''}
    </p>
    ${live?.progress ? html`<progress aria-label="Tests done" max="${Math.max(1, live.progress.total)}" value="${live.progress.done}"></progress>` : nothing}
    <dl>
      ${factsOf(report, live).map(
        ({ name, value }) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    ${live ? showWork(live) : nothing}`;
}

/** Returns the outcome, and how many causes were fixed. */
function outcomeOf({ outcome, causes, shards }: Report): string {
  const healed = causes.filter(({ verdict }) => verdict === 'healed').length;
  const fixed = healed === 0 ? '' : `, ${counted(healed, 'cause')} fixed`;
  // The result of a missing shard is unknown.
  const isPart = outcome === 'green' && (shards?.missing.length ?? 0) > 0;
  return `${isPart ? 'All collected tests are green' : outcomeWords[outcome]}${fixed}`;
}

/** If more causes are at work, they are only counted, because each has its own line below. */
const mostNamed = 3;

/** Says what the run is doing, as the beginning of a sentence. */
function phaseOf({ phase, causes, latest }: RunState): string {
  if (phase) return capitalized(phaseWords(phase.since));
  const atWork = causes.flatMap((one) => (one.phase && !one.ended ? { ...one, phase: one.phase } : []));
  if (atWork.length > mostNamed) return `${counted(atWork.length, 'cause')} in progress`;
  const latestEnd = causes.find(({ summary }) => summary.id === latest)?.ended;
  if (latestEnd) return `${latest}: ${verdictWords[latestEnd.verdict].word}`;
  return (
    atWork.map(({ summary, phase: now }) => `${summary.id}: ${phaseWords(now.since)}`).join(' · ') ||
    'Starting'
  );
}

function factsOf(report: Report, live: RunState | null): { name: string; value: Markup | string }[] {
  const tallies: readonly Pick<Tally, 'name' | 'value'>[] = viewOf(report).tallies;
  const facts = [{ name: 'tests', value: String(report.totals.tests) }, ...tallies];
  if (!live) return facts;
  return [
    ...facts.filter(({ name }) => name !== 'time'),
    { name: 'time', value: timeSince(live.startedAt) },
    // This reveals a killed run, which sends no more events.
    { name: 'last event', value: timeSince(live.lastEventAt) },
  ];
}

/** Shows a running number of seconds, updated by the page's script. */
function timeSince(time: number | null): Markup {
  return time === null ? nothing : html`<span data-since="${time}"></span>`;
}

/** Shows one line per cause that is being worked on. */
function showWork({ phase, causes }: RunState): Markup {
  return html`<ul class="work" aria-label="In progress">
    ${phase?.doing ? workLine(phase) : ''}
    ${causes.map((cause) => (cause.phase ? workLine(cause.phase, cause) : ''))}
  </ul>`;
}

function workLine({ since, doing }: Phase, cause?: CauseState): Markup {
  const started = cause?.attempts.findLast((one) => one.started)?.started;
  const who = started ? ` · ${started.slashCommand} (${started.runner})` : '';
  const cost = cause?.costUsd == null ? '' : ` · ${dollars(cause.costUsd)}`;
  const said = since.type === 'agent.retrying' ? since.reason : doing;
  return html`<li>
    ${cause ? html`<a href="#${cause.summary.id}">${cause.summary.id}</a> ` : ''}${phaseWords(since)},
    ${timeSince(since.time)}<span class="quiet">${who}${cost}</span>
    ${since.type === 'agent.started' ? html`<span class="quiet"> · <code>${since.logFile}</code></span>` : ''}
    ${said === '' ? '' : html`<p class="activity">${said}</p>`}
  </li>`;
}

/** Causes as the page shows them: what a run is still working on, what was fixed, and what is left to do. */
interface OrderedCauses {
  readonly begun: readonly CauseView[];
  readonly fixed: readonly CauseView[];
  readonly left: readonly CauseView[];
}

/**
 * Divides the causes, each placed after the one whose fix revealed it. A chain of causes stays together, in the group of its last one,
 * because a test that got past its first error is fixed only once it is green.
 */
function orderCauses({ report: { causes }, causes: loaded, view }: LoadedRun): OrderedCauses {
  const byId = new Map(view.causes.map((one) => [one.cause.id, one]));
  const chains = new Map<string, CauseView[]>();
  const chainOf = new Map<string, string>();
  for (const { id, parent } of causes) {
    const before = byId.get(parent ?? '')?.cause;
    const key = before?.verdict === 'superseded' ? (chainOf.get(before.id) ?? id) : id;
    chainOf.set(id, key);
    const one = byId.get(id);
    if (one) chains.set(key, [...(chains.get(key) ?? []), one]);
  }
  const ordered = { begun: [] as CauseView[], fixed: [] as CauseView[], left: [] as CauseView[] };
  for (const chain of chains.values()) {
    const isBegun = chain.some(({ cause }) => loaded.get(cause.id)?.now);
    const isFixed = chain.every(({ cause }) => isResolved(cause.verdict));
    ordered[isBegun ? 'begun' : isFixed ? 'fixed' : 'left'].push(...chain);
  }
  return ordered;
}
