import { expect, it } from 'vitest';
import { jobResult } from '../../../src/queue/messages.js';
import { anAttempt } from '../../rig/builders.js';

it.each([
  ['an attempt whose change is a path', { change: '../../elsewhere' }],
  ['an attempt with a judgement that does not exist', { judged: 'fine' }],
])('SC-2 %s is rejected, since any worker could write it', (_, wrong) => {
  const result = (over: object) => ({
    kind: 'tried',
    worker: 'one:1',
    attempts: [{ attempt: { ...anAttempt(), ...over }, patch: null }],
    attemptId: null,
    edits: null,
    end: { verdict: 'failed', reason: 'no agent is left' },
  });

  expect(jobResult.safeParse(result({})).success).toBe(true);
  expect(jobResult.safeParse(result(wrong)).success).toBe(false);
});
