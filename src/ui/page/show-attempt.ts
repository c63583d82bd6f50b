import type { Attempt } from '../../core/attempt.js';
import { judgementWords } from './judgement-words.js';
import type { Proof } from '../../core/proof.js';
import { element } from './element.js';
import type { AttemptView } from './run-view.js';
import type { Part } from './show-parts.js';
import { dollars, duration } from './words.js';

/** A try: who, for how long, for how much, what it changed, and what the re-runs said. */
export function attemptPart(attempt: AttemptView): Part {
  return { key: String(attempt.n), from: attempt, build: () => build(attempt) };
}

function build({ n, by, judged, violations, logFile, ...at }: AttemptView): HTMLElement {
  return element(
    'li',
    {},
    element('p', {}, element('strong', {}, `Attempt ${n}: ${by}`), ' ', ...facts(at)),
    judged ? result(judged) : element('p', { class: 'quiet' }, notJudged(at)),
    judged?.claim?.summary ? element('p', { class: 'quiet' }, `It says: ${judged.claim.summary}`) : null,
    judged && judged.files.length > 0 ? changes(judged) : null,
    judged && judged.proof.length > 0 ? proof(judged.proof) : null,
    violations.length > 0
      ? element('ul', { class: 'violations' }, ...violations.map((one) => element('li', {}, one)))
      : null,
    logFile === null ? null : element('p', { class: 'quiet' }, 'Its output: ', element('code', {}, logFile)),
  );
}

type Measures = Pick<AttemptView, 'durationMs' | 'costUsd' | 'startedAt' | 'agentOutcome' | 'stopped'>;

function facts({ durationMs, costUsd, startedAt }: Measures): HTMLElement[] {
  const time =
    durationMs === null && startedAt !== null
      ? element('span', { class: 'fact', 'data-since': String(startedAt) })
      : element('span', { class: 'fact' }, duration(durationMs ?? 0));
  return costUsd === null ? [time] : [time, element('span', { class: 'fact' }, dollars(costUsd))];
}

function notJudged({ agentOutcome, stopped }: Measures): string {
  if (stopped) return 'The run ended before this was judged.';
  return agentOutcome === null ? 'At work.' : `The agent ${agentOutcome}; the re-run decides.`;
}

function result({ judged, takenBack, failedBecause }: Attempt): HTMLElement {
  const because = failedBecause === null ? '.' : `: ${failedBecause}`;
  const back = takenBack ? ' (The change was taken back.)' : '';
  return element('p', { class: `judged ${judged}` }, `${judgementWords[judged]}${because}${back}`);
}

function changes({ files }: Attempt): HTMLElement {
  const lines = files.map(({ path, added, removed }) => {
    const size = added === null || removed === null ? 'binary' : `+${added} −${removed}`;
    return element('li', {}, element('code', {}, path), ` ${size}`);
  });
  return element('ul', { class: 'files', 'aria-label': 'Changed files' }, ...lines);
}

/** A bar wherever the code or its result changed, as the terminal shows it. */
function proof(steps: Proof): HTMLElement {
  const chips = steps.flatMap((step, at) => [
    at > 0 && step !== steps[at - 1] ? ' | ' : ' ',
    element('span', { class: `step ${step}` }, step),
  ]);
  return element('p', { class: 'proof' }, element('strong', {}, 'Proof'), ...chips);
}
