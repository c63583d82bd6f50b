import { expect, it } from 'vitest';
import { askedWaitMs } from '../../../src/core/agent-error.js';

it.each([
  ['429 Too Many Requests, retry-after: 30', 30_000],
  ['{"retry-after":"12"}', 12_000],
  [String.raw`{\"retry_after\": 2.5}`, 2500],
  ['retry-after-ms: 1500', 1500],
  ['Retry-After=7', 7000],
  ['retry_after_seconds: 9', 9000],
  ['"retryDelay": "38s"', 38_000],
  ['You exceeded your current quota. Please retry in 38.202499731s.', 38_203],
  ['Rate limit reached for gpt-5. Please try again in 20s.', 20_000],
  ['Please try again in 1m30s. Visit', 90_000],
  ['Please try again in 6ms.', 6],
  ['Try again in 2 minutes and 5 seconds', 125_000],
  ['Retry after 15 seconds', 15_000],
  ['please wait 45 seconds before', 45_000],
  ['try again in 4s … try again in 9s', 9000],
  ['\u0000retry-after: 3\nlater: try again in 5 min', 300_000],
])('AG-7 reads how long %j asks to wait', (text, ms) => {
  expect(askedWaitMs(text)).toBe(ms);
});

it.each([
  '',
  '529 Overloaded',
  'try again later',
  'try again in 5',
  'retry-after: Wed, 21 Oct 2026 07:28:00 GMT',
  'exceeded retry limit, last status: 429 Too Many Requests',
  'waiting for 3 files',
  'await 30 seconds',
  'retry 3 s',
  // The program's own backoff, which is already over.
  'attempt 3 failed. Retrying in 35s',
])('AG-7 reads no wait from %j', (text) => {
  expect(askedWaitMs(text)).toBeNull();
});

it('AG-7 reads the wait at the end of a very long text', () => {
  expect(askedWaitMs(`${'try again in '.repeat(100_000)}try again in 3 s`)).toBe(3000);
});
