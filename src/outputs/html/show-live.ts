import { blameLine } from '../../core/blame.js';
import { unreachable } from '../../core/unreachable.js';
import { reportAttempt } from '../../run/report-of.js';
import type { Aside, AttemptState, CauseState, RunState } from '../../run/run-state.js';
import { counted, dollars, duration, testName } from '../format.js';
import { outcomeWords, phaseWords, sentence, verdictWords, workerWords } from '../wording.js';
import { html, nothing, type Markup } from './markup.js';
import { showAttempt, showProof } from './show-attempts.js';
import { causeLine, picture, showReasons } from './show-cause.js';
import { showTable } from './show-table.js';

/** A running number of seconds, updated by the page's script. */
function timeSince(time: number): Markup {
  return html`<span data-since="${time}"></span>`;
}

/** Shows what a run is doing, how far it is, and its results so far. */
export function showNow(run: RunState): Markup {
  const { progress } = run;
  return html`<h2 id="now-heading" class="unseen">Now</h2>
    <p id="phase" role="status" aria-live="polite" class="${run.ended?.outcome ?? 'working'}">
      ${phaseOf(run)}
    </p>
    ${
      progress === null
        ? nothing
        : html`<progress
            aria-label="Tests done"
            max="${Math.max(1, progress.total)}"
            value="${progress.done}"
          ></progress>`
    }
    <dl id="facts">
      ${factsOf(run).map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>`;
}

/** If more causes are at work, they are only counted, because each has its own line below. */
const mostNamed = 3;

/** Whether it is waiting for a worker. */
function isQueued({ phase }: CauseState): boolean {
  return phase?.since.type === 'cause.sent';
}

/** Says what the run is doing, as a sentence. */
export function phaseOf({ ended, phase, causes, latest }: RunState): string {
  if (ended) return outcomeWords[ended.outcome];
  if (phase) return sentence(phaseWords(phase.since));
  const atWork = causes.filter((one) => one.phase && !one.ended);
  if (atWork.length > mostNamed) {
    const queued = atWork.filter(isQueued).length;
    const inQueue = queued > 0 ? `, ${queued} in the queue` : '';
    return `${counted(atWork.length - queued, 'cause')} in progress${inQueue}`;
  }
  if (atWork.length > 1)
    return atWork
      .map((one) => `${one.summary.id}: ${one.phase ? phaseWords(one.phase.since) : ''}`)
      .join(' · ');
  const now = causes.find(({ summary }) => summary.id === latest);
  if (!now) return 'Starting';
  if (now.ended) return `${latest}: ${verdictWords[now.ended.verdict].word}`;
  return now.phase ? `${latest}: ${phaseWords(now.phase.since)}` : 'Starting';
}

function factsOf(run: RunState): [name: string, value: Markup | string][] {
  const { first, startedAt, lastEventAt, ended, progress, costUsd, agentRuns, causes } = run;
  const saved = ended?.agentRunsAvoided ? `, ${ended.agentRunsAvoided} saved` : '';
  const healed = causes.filter((cause) => cause.ended?.verdict === 'healed').length;
  return [
    ...(startedAt === null ? [] : [fact('Time', ended ? duration(ended.durationMs) : timeSince(startedAt))]),
    // This reveals a killed run, which sends no more events.
    ...(ended || lastEventAt === null ? [] : [fact('Last event', timeSince(lastEventAt))]),
    ...(first
      ? [
          fact(
            'First run',
            `${first.passed} passed, ${first.failed} failed${some(first.flaky, 'flaky')}${some(first.notRun, 'did not run')}`,
          ),
        ]
      : []),
    ...(progress ? [fact('Now', `${progress.done} of ${counted(progress.total, 'test')}`)] : []),
    ...(causes.length > 0 ? [fact('Healed', `${healed} of ${counted(causes.length, 'cause')}`)] : []),
    fact('Agents', `${counted(agentRuns, 'run')}${saved}`),
    ...(costUsd === null ? [] : [fact('Cost', dollars(costUsd))]),
  ];
}

function fact(name: string, value: Markup | string): [string, Markup | string] {
  return [name, value];
}

function some(count: number, what: string): string {
  return count > 0 ? `, ${count} ${what}` : '';
}

/** Shows what each worker is doing (SC-2). */
export function showWorkers({ workers }: RunState): Markup {
  return showTable({
    label: 'Workers',
    columns: ['Worker', 'Cause', 'State', 'Since'],
    rows: workers.map((one) => ({
      cells: [one.name, one.causeId ?? '', workerWords(one), timeSince(one.since)],
      ...(one.elsewhere === null ? {} : { kind: 'quiet' }),
    })),
  });
}

/** Shows notes that belong to no cause. */
export function showNotes({ flaky, quarantined, warnings }: RunState): Markup {
  const notes = [
    ...flaky.map((test) => `flaky, green without a change: ${testName(test)}`),
    ...quarantined.map((test) => `quarantined, red but not failing the run: ${testName(test)}`),
    ...warnings.map((message) => `warning: ${message}`),
  ];
  return html`${notes.map((note) => html`<li>${note}</li>`)}`;
}

/** Shows a cause as an expandable line: what it is, what is being done, and its result. A cause in progress is expanded. */
export function showLiveCause(cause: CauseState, screenshot: string | null): Markup {
  const { summary, phase, ended, attempts, asides } = cause;
  const { id, headline, tests, parent, warning } = summary;
  const [first] = tests;
  const state = ended ? ended.verdict : phase && !isQueued(cause) ? 'working' : 'waiting';
  const isFixed = ended?.verdict === 'healed' || ended?.verdict === 'superseded';
  const more = tests.length > 1 ? ` and ${counted(tests.length - 1, 'more test')}` : '';
  const notes = [...(warning === null ? [] : [warning]), ...asides.map(asideWords)];
  return html`<details
    class="cause ${ended ? (isFixed ? 'fixed' : 'left') : 'begun'}"
    id="live-${id}"
    data-state="${state}"
    ${state === 'working' ? 'open' : ''}
  >
    <summary>${causeLine(summary, { state, about: ended?.reason ?? counted(tests.length, 'test') })}</summary>
    <article aria-labelledby="${id}-heading">
      <h3 id="${id}-heading" class="unseen">${id} ${headline}</h3>
      <p class="quiet">${first ? `${testName(first)}${more}` : 'The suite itself'}</p>
      ${parent === null ? '' : html`<p class="quiet">Found after ${parent}.</p>`}
      ${ended ? html`<p class="reason">${ended.reason}</p>` : ''}
      ${phase?.doing ? html`<p class="activity" aria-label="Progress on ${id}">${phase.doing}</p>` : ''}
      ${notes.map((note) => html`<p class="note">${note}</p>`)} ${showReasons(summary)}
      ${
        tests.length > 1
          ? html`<ul>
              ${tests.map((test) => html`<li>${testName(test)}</li>`)}
            </ul>`
          : ''
      }
      ${
        screenshot === null
          ? ''
          : picture(
              screenshot,
              'The page when the test failed',
              `Screenshot of the page when the test of ${id} failed`,
            )
      }
      <ol class="attempts">
        ${attempts.map((one) => showLiveAttempt(one, ended !== null || phase === null))}
      </ol>
    </article>
  </details>`;
}

function asideWords(event: Aside): string {
  switch (event.type) {
    case 'agent.retrying':
      return `waited ${counted(Math.ceil(event.delayMs / 1000), 'second')}: ${event.reason}`;
    case 'agent.waiting_for_input':
      return `Needs review: ${event.escalationId ?? event.question}`;
    case 'cause.blamed':
      return blameLine(event.blame);
    case 'cause.came_back':
      return 'An earlier run healed this failure, but the fix did not hold.';
    default:
      return unreachable(event);
  }
}

/** Shows a judged attempt as in the report, and one in progress with what is known so far. */
function showLiveAttempt({ n, started, ended, judged }: AttemptState, isOver: boolean): Markup {
  const log = started ? html`<p class="quiet">Its output: <code>${started.logFile}</code></p>` : nothing;
  if (judged) return html`<li>${showAttempt(reportAttempt(judged))} ${showProof(judged)} ${log}</li>`;
  const took = ended ? duration(ended.durationMs) : started && !isOver ? timeSince(started.time) : '';
  const cost = ended?.costUsd == null ? '' : ` · ${dollars(ended.costUsd)}`;
  const state = isOver
    ? 'The run ended before this was judged.'
    : ended
      ? `The agent ${ended.outcome}; the re-run decides.`
      : 'In progress.';
  return html`<li>
    <p>
      <strong>Attempt ${n}: ${started ? `${started.slashCommand} (${started.runner})` : ''}</strong>
      <span class="fact">${took}${cost}</span>
    </p>
    <p class="quiet">${state}</p>
    ${log}
  </li>`;
}
