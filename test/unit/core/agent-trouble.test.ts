import { describe, expect, it } from 'vitest';
import { agentTroubleOf, type AgentTroubleKind } from '../../../src/core/agent-trouble.js';

const told: readonly [AgentTroubleKind, string][] = [
  ['retryable', 'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}'],
  ['retryable', 'Rate limit reached for requests'],
  ['retryable', 'HTTP 429'],
  ['retryable', 'status: 503'],
  ['retryable', 'connect ETIMEDOUT 10.0.0.1:443'],
  ['retryable', 'read ECONNRESET'],
  ['retryable', 'connect ECONNREFUSED 127.0.0.1:4000'],
  ['retryable', 'A network problem occurred'],
  ['retryable', 'stream disconnected before completion'],
  ['retryable', 'Error: 502 Bad Gateway'],
  ['retryable', 'You are sending 40,000 tokens per minute; slow down'],
  ['context_overflow', 'This model has a context length of 8192'],
  ['context_overflow', 'the context window is full'],
  ['context_overflow', 'context overflow'],
  ['context_overflow', 'Too many tokens in the request'],
  ['context_overflow', 'maximum context reached'],
  ['context_overflow', 'token limit hit'],
  ['context_overflow', '500 {"message":"prompt is too long: 300000 tokens > 200000 maximum"}'],
  ['context_overflow', 'Error code: 413 - request too large'],
  ['fatal', '401 {"error":"no"}'],
  ['fatal', 'Error 403: Forbidden'],
  ['fatal', 'Invalid API key provided'],
  ['fatal', 'OAuth authentication is required'],
  ['fatal', 'Your credit balance is too low'],
  ['fatal', '429 You exceeded your current quota, please check your plan and billing details'],
  ['fatal', "You've hit your session limit · resets 4pm"],
  [
    'fatal',
    'request to https://api.example.com failed, reason: self signed certificate in certificate chain',
  ],
  ['fatal', 'max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens'],
  ['fatal', 'The model `large-9` does not exist or you do not have access to it'],
];

describe('AG-6 what an agent program says of its failure', () => {
  it.each(told)('AG-6 %s: %s', (kind, text) => {
    expect(agentTroubleOf(text).kind).toBe(kind);
    expect(agentTroubleOf(text.toUpperCase()).kind).toBe(kind);
  });

  it.each([
    'listening on port 4290',
    'error in line 503',
    'took 503 ms',
    'read 429 lines',
    'chunk 4290.js:503:12',
    'see /docs/429',
    'attempt 503 of 600',
    'version 1.503.0',
    '',
    'something else',
  ])('AG-6 digits that merely look like a status, and words that nobody knows, are fatal: %j', (text) => {
    expect(agentTroubleOf(text)).toEqual({ kind: 'fatal', rule: null, remedy: null });
  });

  it('AG-6 the first match wins: retryable before context_overflow before fatal', () => {
    expect(agentTroubleOf('429 context length 401').kind).toBe('retryable');
    expect(agentTroubleOf('too many tokens; unauthorized').kind).toBe('context_overflow');
  });

  it('AG-7 says what a person must do where only a person can help', () => {
    expect(agentTroubleOf('Not logged in · Please run /login').remedy).toMatch(/Log in/);
    expect(agentTroubleOf('Credit balance is too low').remedy).toMatch(/credit/);
    expect(agentTroubleOf('overloaded').remedy).toBeNull();
  });

  it('AG-6 looks at the end of a long output, in linear time', () => {
    expect(agentTroubleOf(`${'unauthorized '.repeat(50_000)}${'x'.repeat(30_000)} overloaded`).kind).toBe(
      'retryable',
    );
  });
});
