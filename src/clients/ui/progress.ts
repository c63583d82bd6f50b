import { capitalize, verdictWords } from '../../outputs/wording.js';
import { dollars } from '../../format.js';
import { html, type Markup, nothing } from '../../outputs/html/markup.js';
import { listFigures, renderFacts, renderOutcome } from '../../outputs/html/page.js';
import { describePhaseEvent } from '../../run/phase-words.js';
import { createReport } from '../../run/report.js';
import type { CauseState, Phase, RunState } from '../../run/run-state.js';

/** Renders the current step of a run, each cause in progress, and the figures so far; for an ended run, its outcome. */
export function renderProgress(run: RunState): Markup {
  const { phase, causes, progress, startedAt, lastEventAt, ended } = run;
  const report = createReport(run);
  if (ended) return renderOutcome(report);
  const facts = [
    ...listFigures(report).filter(({ name }) => name !== 'time'),
    { name: 'time', value: renderTimeSince(startedAt) },
    // This reveals a killed run, which sends no more events.
    { name: 'last event', value: renderTimeSince(lastEventAt) },
  ];
  return html`<p id="phase" role="status" class="working">
      ${describePhase(run)}${report.dryRun && ' (dry run: no agent was started)'}
    </p>
    ${progress && html`<progress aria-label="Tests done" max="${Math.max(1, progress.total)}" value="${progress.done}"></progress>`}
    ${renderFacts(facts)}
    <ul class="work" aria-label="In progress">
      ${phase?.doing && renderPhase(phase)}
      ${causes.map((cause) => cause.phase && renderPhase(cause.phase, cause))}
    </ul>`;
}

/** The maximum number of causes in progress to name; each also has a line below. */
const MAX_NAMED = 3;

/** Describes the current step of the run, as the beginning of a sentence. */
function describePhase({ phase, causes, latest }: RunState): string {
  if (phase) return capitalize(describePhaseEvent(phase.since));
  const inProgress = causes.flatMap(({ id, phase: doing, ended }) =>
    doing && !ended ? [`${id}: ${describePhaseEvent(doing.since)}`] : [],
  );
  if (inProgress.length > MAX_NAMED) return `${inProgress.length} causes in progress`;
  const latestEnd = causes.find(({ id }) => id === latest)?.ended;
  if (latestEnd) return `${latest}: ${verdictWords[latestEnd.verdict].word}`;
  return inProgress.join(' · ') || 'Starting';
}

/** Renders a running number of seconds, updated by the page's script. */
function renderTimeSince(time: number | null): Markup {
  return time === null ? nothing : html`<span data-since="${time}"></span>`;
}

function renderPhase({ since, doing }: Phase, cause?: CauseState): Markup {
  const started = cause?.attempts.findLast((attempt) => attempt.started)?.started;
  const agent = started ? ` · ${started.slashCommand} (${started.runner})` : '';
  const cost = cause?.costUsd == null ? '' : ` · ${dollars(cause.costUsd)}`;
  const activity = since.type === 'agent.retrying' ? since.reason : doing;
  return html`<li>
    ${cause && html`<a href="#${cause.id}">${cause.id}</a> `}${describePhaseEvent(since)},
    ${renderTimeSince(since.time)}<span class="quiet">${agent}${cost}</span>
    ${since.type === 'agent.started' && html`<span class="quiet"> · <code>${since.logFile}</code></span>`}
    ${activity !== '' && html`<p class="activity">${activity}</p>`}
  </li>`;
}
