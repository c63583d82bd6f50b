import type { Event } from '../event.js';
import { clipped, counted, dollars, duration } from './format.js';

/** What is going on right now, as the status line tells it. */
export interface Status {
  /** Folds an event in; true where the phase changed. */
  take(event: Event & { time: number }): void;
  /** One line of at most `width` columns, or null while nothing is going on that we show. */
  text(now: number, width: number): string | null;
}

/** Follows a run: phase, test, agent, how long, and what it has cost so far (CL-13). */
export function createStatus(): Status {
  let phase: string | null = null;
  let since = 0;
  let detail = '';
  let costUsd: number | null = null;
  const enter = (text: string | null, time: number) => {
    phase = text;
    since = time;
    detail = '';
  };
  return {
    take: (event) => {
      if (event.type === 'suite.started' && event.purpose !== 'first') {
        const what = event.tests === null ? 'the suite' : counted(event.tests, 'test');
        enter(`${event.causeId ?? 'confirming'}: running ${what}`, event.time);
      } else if (event.type === 'suite.progress') detail = `${event.done}/${event.total} ${event.test}`;
      else if (event.type === 'agent.started') {
        enter(`${event.causeId}: ${event.slashCommand}, attempt ${event.attempt}`, event.time);
      } else if (event.type === 'agent.activity') detail = event.text;
      else if (event.type === 'agent.ended') {
        if (event.costUsd !== null) costUsd = (costUsd ?? 0) + event.costUsd;
        enter(`${event.causeId}: looking at what changed`, event.time);
      } else if (event.type === 'agent.retrying') {
        enter(`${event.causeId}: waiting ${duration(event.delayMs)}`, event.time);
      } else if (event.type === 'suite.ended') enter('gathering evidence', event.time);
      else if (event.type === 'run.ended') enter(null, event.time);
    },
    text: (now, width) => {
      if (phase === null) return null;
      const cost = costUsd === null ? '' : ` · ${dollars(costUsd)}`;
      const head = `${phase} · ${duration(Math.floor((now - since) / 1000) * 1000)}${cost}`;
      return clipped(detail ? `${head} · ${detail}` : head, width);
    },
  };
}
