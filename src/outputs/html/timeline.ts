import { atMost, dollars, duration } from '../../format.js';
import type { RunState, SpanState } from '../../run/run-state.js';
import { purposeWords } from '../../run/phase-words.js';
import { type Markup, html, nothing } from './markup.js';

/** A period of a run, as a row. */
export interface Span extends Pick<SpanState, 'kind' | 'costUsd'> {
  /** Null for what was done for all causes together. */
  readonly causeId: string | null;
  readonly label: string;
  /** Milliseconds since the run started. */
  readonly from: number;
  readonly to: number;
}

/** The maximum number of rows of a timeline; the rest is counted. */
const ROWS = 40;

/** Returns what a run did and when; a period that never ended ends with the last event. */
export function timelineOf({ spans, startedAt, lastEventAt }: RunState): Span[] {
  const start = startedAt ?? 0;
  return spans.map(({ kind, since, to, costUsd }) => ({
    causeId: since.causeId,
    kind,
    label: labelOf(since),
    from: since.time - start,
    to: (to ?? lastEventAt ?? since.time) - start,
    costUsd,
  }));
}

function labelOf(since: SpanState['since']): string {
  if (since.type === 'suite.started') return purposeWords[since.purpose].short;
  if (since.type === 'agent.retrying') return 'waiting before the next try';
  return `${since.slashCommand} (${since.runner}), attempt ${since.attempt}`;
}

/** Renders periods as a list, each with a bar that shows its place in the whole. */
export function showTimeline(title: string, spans: readonly Span[]): Markup {
  if (spans.length === 0) return nothing;
  const start = Math.min(...spans.map(({ from }) => from));
  const length = Math.max(...spans.map(({ to }) => to)) - start;
  const row = ({ kind, label, from, to, costUsd }: Span) => {
    const left = percent(from - start, length);
    const width = Math.max(0.5, Math.min(percent(to - from, length), 100 - left));
    const cost = costUsd === null ? '' : ` · ${dollars(costUsd)}`;
    return html`<li class="span ${kind}">
      <span class="what">${label}</span>
      <span class="fact">at ${duration(from)}, for ${duration(to - from)}${cost}</span>
      <svg class="track" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar" x="${left.toFixed(2)}" width="${width.toFixed(2)}" height="1" />
      </svg>
    </li>`;
  };
  return html`<ol class="timeline" aria-label="${title}">
    ${atMost(spans.map(row), ROWS, (hidden) => html`<li class="quiet">… and ${hidden} more</li>`)}
  </ol>`;
}

/** Returns one row per cause, and one per kind of work that was done for all of them together. */
export function overview(spans: readonly Span[]): Span[] {
  const rows = new Map<string, Span[]>();
  for (const span of spans) {
    const key = span.causeId ?? span.label;
    rows.set(key, [...(rows.get(key) ?? []), span]);
  }
  return [...rows].map(([key, all]) => ({
    causeId: all[0]?.causeId ?? null,
    kind: all.some(({ kind }) => kind === 'agent') ? 'agent' : 'suite',
    label: key,
    from: Math.min(...all.map(({ from }) => from)),
    to: Math.max(...all.map(({ to }) => to)),
    costUsd: totalCost(all),
  }));
}

function totalCost(spans: readonly Span[]): number | null {
  const known = spans.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  return known.length > 0 ? known.reduce((sum, one) => sum + one, 0) : null;
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : (100 * part) / whole;
}
