import { expect, it } from 'vitest';
import type { StampedEvent } from '../../../src/event.js';
import { createStatus } from '../../../src/outputs/status.js';

const cause = (id: string) => ({ type: 'cause.found', cause: { id, category: 'ui-error', headline: id } });
const run = (purpose: string, causeId: string | null) => ({
  type: 'suite.started',
  purpose,
  causeId,
  tests: 2,
  n: 5,
  of: null,
  likelyMs: null,
});

it('CL-13 how far a Playwright run is stands at what it is for, and at no cause that waits', () => {
  const board = createStatus();
  const events = [
    { type: 'run.started' },
    cause('c1'),
    cause('c2'),
    run('retest', 'c1'),
    { type: 'suite.progress', done: 1, total: 2, test: 'of c1' },
    { type: 'attempt.green', causeId: 'c1', attempt: 1 },
    run('confirm', null),
    { type: 'suite.progress', done: 1, total: 2, test: 'of all' },
  ];
  for (const [time, event] of events.entries()) board.take({ time, ...event } as unknown as StampedEvent);
  const status = board.status();
  expect(status?.phase?.doing).toBe('1/2 of all');
  expect(status?.causes.map(({ phase }) => phase?.doing ?? null)).toEqual(['', null]);
});
