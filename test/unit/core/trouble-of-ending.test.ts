import { expect, it } from 'vitest';
import { troubleOfEnding } from '../../../src/core/agent-trouble/trouble-of-ending.js';

it('AG-6 a time-out and an abort are of the same type, and set by the runtime alone', () => {
  expect(troubleOfEnding({ kind: 'timed-out', afterMs: 1 })).toBe('timeout');
  expect(troubleOfEnding({ kind: 'aborted' })).toBe('aborted');
  expect(troubleOfEnding({ kind: 'context-overflow', reason: '' })).toBe('context_overflow');
  expect(troubleOfEnding({ kind: 'retryable', reason: '' })).toBe('retryable');
  expect(troubleOfEnding({ kind: 'unusable', reason: '', remedy: '' })).toBe('fatal');
  expect(troubleOfEnding({ kind: 'exited', exitCode: 1 })).toBeNull();
  expect(troubleOfEnding({ kind: 'completed' })).toBeNull();
});
