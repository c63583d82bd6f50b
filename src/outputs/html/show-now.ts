import type { Report } from '../../run/report.js';
import type { CauseState, Phase, RunState } from '../../run/run-state.js';
import { counted, dollars } from '../format.js';
import { type Tally, talliesOf } from '../tallies.js';
import { outcomeWords, phaseWords, sentence, verdictWords } from '../wording.js';
import { html, nothing, type Markup } from './markup.js';

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

/** Says what the run is doing, as a sentence. */
export function phaseOf({ phase, causes, latest }: RunState): string {
  if (phase) return sentence(phaseWords(phase.since));
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
  const tallies: readonly Pick<Tally, 'name' | 'value'>[] = talliesOf(report);
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
