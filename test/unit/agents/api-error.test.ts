import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRequestedWaitMs, classifyAgentError, classifyAgentEnd } from '../../../src/agents/api-error.js';

const kindOf = (text: string) => classifyAgentError(text).kind;

describe('the failure text of an agent program', () => {
  it.each([
    'Rate limit exceeded, slow down',
    'RATE_LIMIT',
    'HTTP 429',
    '503 Service Unavailable',
    'connect ETIMEDOUT 10.0.0.1:443',
    'Network error',
    '{"code":529}',
    'API Error (429 {"type":"error"})',
    'Error code: 429 - quota metric requests per minute exceeded',
    'You exceeded your current quota, check your plan and billing details. Please retry in 38.2s.',
    'error sending request: dns error: failed to lookup address information',
    "We're currently experiencing high demand",
  ])('AG-6 is retryable: %s', (text) => expect(kindOf(text)).toBe('retryable'));

  it.each([
    'the context window is full',
    'too many tokens',
    'token limit',
    'prompt is too long: 300000 tokens > 200000 maximum',
    'The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).',
    '413 Request Entity Too Large',
    '500 {"error":{"message":"prompt is too long: 5 tokens > 4 maximum"}}',
    '429 Request too large for model: tokens per minute (TPM): Limit 6000, Requested 7000',
    'Internal error: Session too large to compact - context exceeds model limit even after stripping media',
    'Internal error {"errorName":"ContextOverflowError"}',
  ])('AG-6 is context_overflow: %s', (text) => expect(kindOf(text)).toBe('context_overflow'));

  it.each([
    '401',
    'Unauthorized',
    'Invalid key',
    '',
    '   \n',
    '429 {"error":{"type":"insufficient_quota"}}',
    'Claude usage limit reached. Your limit will reset at 3pm',
    '429 quota exceeded: requests per day',
    'stream error: exceeded retry limit, last status: 401 Unauthorized',
    'You have hit your weekly rate limit',
    'Rate limit reached. Please try again in 5 hours',
    'Connection error: self-signed certificate in certificate chain',
    'max_tokens: 70000 > 64000, which is the maximum allowed number of output tokens',
  ])('AG-6 is fatal: %j', (text) => expect(kindOf(text)).toBe('fatal'));

  it.each([
    'listening on port 4290',
    'took 503ms',
    'at chunk-429.js:503:12',
    'http://127.0.0.1:503/v1',
    'v5.0.3, 4.29',
    '503 tests ran',
    'src/network/client.ts is broken',
  ])('AG-6 does not mistake digits or words inside others for a status: %s', (text) => {
    expect(classifyAgentError(text)).toEqual({ kind: 'fatal', reason: 'unknown', evidence: null });
  });

  it('AG-6 checks the groups in the order of the specification if a text matches several', () => {
    expect(kindOf('429, too many tokens')).toBe('retryable');
    expect(kindOf('overloaded; 401 unauthorized')).toBe('retryable');
    expect(kindOf('token limit, then 403')).toBe('context_overflow');
  });

  it('AG-6 returns the reason and the deciding line', () => {
    expect(classifyAgentError('Noise\nAPI Error: 529 Overloaded. Try again\nMore')).toEqual({
      kind: 'retryable',
      reason: 'overloaded',
      evidence: 'API Error: 529 Overloaded. Try again',
    });
    expect(classifyAgentError('Credit balance is too low').reason).toBe('out-of-credit');
  });

  it('AG-6 is not misled by colors, frames and wrapped lines', () => {
    const framed = '│ \u001b[31mPrompt is   │\n│ too long\u001b[0m   │';
    expect(kindOf(framed)).toBe('context_overflow');
  });

  it('AG-6 classifies any text, however long', () => {
    fc.assert(fc.property(fc.string({ maxLength: 5000 }), (text) => kindOf(text) !== undefined));
    expect(kindOf('a'.repeat(1_000_000))).toBe('fatal');
  });
});

it('AG-6 derives the error type from how an agent run ended, including timeout and aborted', () => {
  expect(classifyAgentEnd({ kind: 'timed-out', afterMs: 1 })).toBe('timeout');
  expect(classifyAgentEnd({ kind: 'aborted' })).toBe('aborted');
  expect(classifyAgentEnd({ kind: 'context-overflow', reason: '' })).toBe('context_overflow');
  expect(classifyAgentEnd({ kind: 'retryable', reason: '' })).toBe('retryable');
  expect(classifyAgentEnd({ kind: 'unusable', reason: '', remedy: '' })).toBe('fatal');
  expect(classifyAgentEnd({ kind: 'exited', exitCode: 1 })).toBeNull();
  expect(classifyAgentEnd({ kind: 'completed' })).toBeNull();
});

it.each([
  ['429 Too Many Requests, retry-after: 30', 30_000],
  ['{"retry-after":"12"}', 12_000],
  [String.raw`{\"retry_after\": 2.5}`, 2500],
  ['"retryDelay": "38s"', 38_000],
  ['You exceeded your current quota. Please retry in 38.202499731s.', 38_203],
  ['Rate limit reached for gpt-5. Please try again in 20s.', 20_000],
  ['Please try again in 1m30s. Visit', 90_000],
  ['Try again in 2 minutes and 5 seconds', 125_000],
  ['please wait 45 seconds before', 45_000],
  ['try again in 4s … try again in 9s', 9000],
  ['\u0000retry-after: 3\nlater: try again in 5 min', 300_000],
])('AG-7 reads how long %j asks to wait', (text, ms) => {
  expect(parseRequestedWaitMs(text)).toBe(ms);
});

it.each([
  '',
  '529 Overloaded',
  'try again later',
  'try again in 5',
  'retry-after: Wed, 21 Oct 2026 07:28:00 GMT',
  'exceeded retry limit, last status: 429 Too Many Requests',
  'await 30 seconds',
  // The program's own backoff, which is already over.
  'attempt 3 failed. Retrying in 35s',
])('AG-7 reads no wait from %j', (text) => {
  expect(parseRequestedWaitMs(text)).toBeNull();
});

it('AG-7 reads the wait at the end of a very long text', () => {
  expect(parseRequestedWaitMs(`${'try again in '.repeat(100_000)}try again in 3 s`)).toBe(3000);
});
