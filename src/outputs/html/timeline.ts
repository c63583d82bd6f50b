import type { StampedEvent, SuitePurpose } from '../../event.js';

/** A stretch of a run: Playwright at work, an agent at work, or a wait. */
export interface Span {
  /** Null for what was done for all causes together. */
  readonly causeId: string | null;
  readonly kind: 'suite' | 'agent' | 'wait';
  readonly label: string;
  /** Milliseconds since the run started. */
  readonly from: number;
  readonly to: number;
  /** US dollars, where an agent program reported them. */
  readonly costUsd: number | null;
}

const purposes: Record<SuitePurpose, string> = {
  first: 'the suite',
  confirm: 'confirming what is red',
  retest: 'running again',
  blame: 'looking for the change to blame',
  'other-input': 'running with another input',
  proof: 'proving the fix',
  'shared-fix': 'the other tests of the cause',
  regression: 'the tests around the fixes',
};

type Open = Omit<Span, 'to' | 'costUsd'>;

/** What a run did and when, read from its events in their order; what never ended, ends with the last event. */
export function timelineOf(events: readonly StampedEvent[]): Span[] {
  const [first] = events;
  if (!first) return [];
  const spans: Span[] = [];
  const open = new Map<Span['kind'], Open>();
  const end = (kind: Span['kind'], time: number, costUsd: number | null = null) => {
    const started = open.get(kind);
    if (started) spans.push({ ...started, to: time - first.time, costUsd });
    open.delete(kind);
  };
  for (const event of events) {
    // A wait ends with whatever comes after it.
    if (open.has('wait')) end('wait', event.time);
    const started = startOf(event, event.time - first.time);
    if (started) {
      end(started.kind, event.time);
      open.set(started.kind, started);
    }
    if (event.type === 'suite.ended') end('suite', event.time);
    if (event.type === 'agent.ended') end('agent', event.time, event.costUsd);
  }
  const last = events.at(-1)?.time ?? first.time;
  for (const kind of open.keys()) end(kind, last);
  return spans.toSorted((a, b) => a.from - b.from);
}

function startOf(event: StampedEvent, from: number): Open | null {
  if (event.type === 'suite.started') {
    return { kind: 'suite', causeId: event.causeId, label: purposes[event.purpose], from };
  }
  if (event.type === 'agent.started') {
    const label = `${event.slashCommand} (${event.runner}), attempt ${event.attempt}`;
    return { kind: 'agent', causeId: event.causeId, label, from };
  }
  if (event.type === 'agent.retrying') {
    return { kind: 'wait', causeId: event.causeId, label: 'waiting before the next try', from };
  }
  return null;
}
