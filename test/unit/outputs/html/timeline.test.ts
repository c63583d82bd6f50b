import { expect, it } from 'vitest';
import type { StampedEvent } from '../../../../src/event.js';
import { timelineOf } from '../../../../src/outputs/html/show-timeline.js';
import { runOf } from '../../../../src/run/reduce.js';

const at = (time: number, event: object) => ({ time, ...event }) as StampedEvent;

const events = [
  at(1000, { type: 'run.started' }),
  at(1100, { type: 'suite.started', purpose: 'first', causeId: null }),
  at(3100, { type: 'suite.ended', purpose: 'first', causeId: null }),
  at(3200, { type: 'agent.started', causeId: 'c1', attempt: 1, slashCommand: '/debugger', runner: 'claude' }),
  at(3300, { type: 'agent.activity', causeId: 'c1', text: 'reads' }),
  at(4200, { type: 'agent.ended', causeId: 'c1', durationMs: 1000, costUsd: 0.5 }),
  at(4200, { type: 'agent.retrying', causeId: 'c1', attempt: 2, delayMs: 5000 }),
  at(9200, { type: 'agent.started', causeId: 'c1', attempt: 2, slashCommand: '/debugger', runner: 'claude' }),
  at(9900, { type: 'run.warning', message: 'killed here' }),
];

it('RP-4 the timeline shows suites, agents and waits, with their costs', () => {
  expect(timelineOf(runOf(events))).toEqual([
    { causeId: null, kind: 'suite', label: 'the suite', from: 100, to: 2100, costUsd: null },
    {
      causeId: 'c1',
      kind: 'agent',
      label: '/debugger (claude), attempt 1',
      from: 2200,
      to: 3200,
      costUsd: 0.5,
    },
    {
      causeId: 'c1',
      kind: 'wait',
      label: 'waiting before the next try',
      from: 3200,
      to: 8200,
      costUsd: null,
    },
    {
      causeId: 'c1',
      kind: 'agent',
      label: '/debugger (claude), attempt 2',
      from: 8200,
      to: 8900,
      costUsd: null,
    },
  ]);
});

it('EV-12 a run without events has no timeline', () => {
  expect(timelineOf(runOf([]))).toEqual([]);
});
