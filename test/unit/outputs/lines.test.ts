import { Chalk } from 'chalk';
import { expect, it } from 'vitest';
import { linesFor } from '../../../src/outputs/lines.js';
import { anAttempt, aTest } from '../../rig/builders.js';

const paint = new Chalk({ level: 0 });

it('CL-13 says why a re-run is made, and how many tests are in it', () => {
  const started = (purpose: 'confirm' | 'retest', tests: number | null) =>
    linesFor({ type: 'suite.started', purpose, tests, causeId: purpose === 'retest' ? 'c1' : null }, paint);
  expect(started('confirm', 1)).toEqual(['running 1 test again without a change, to rule out a flake …']);
  expect(started('retest', null)).toEqual(['c1 running the suite again …']);
});

it('CL-13 names agent, attempt, timeout and log when an agent starts', () => {
  const event = {
    type: 'agent.started' as const,
    causeId: 'c1',
    attempt: 2,
    agent: 'debugger',
    slashCommand: '/debugger',
    runner: 'claude',
    timeoutMs: 300_000,
    pid: 1,
    logFile: 'attempts/2.log',
  };
  expect(linesFor(event, paint)).toEqual([
    'c1 attempt 2: /debugger (claude) is working for at most 5m; log: attempts/2.log',
  ]);
});

it('RP-1 says what a re-run showed, and that the change was reverted', () => {
  expect(linesFor({ type: 'attempt.judged', causeId: 'c1', attempt: anAttempt() }, paint)).toEqual([
    'c1 still red (the same error came back); its change was reverted',
  ]);
});

it('RP-1 HN-3 repeats neither the violations of a rejected change nor claims that it was in the project', () => {
  const violation = {
    rule: 'test-modifier',
    file: 'a.spec.ts',
    line: 3,
    before: null,
    after: 'test.skip()',
    says: 'no',
  };
  const attempt = anAttempt({
    judged: 'rejected',
    failedBecause: 'weakens the tests: a.spec.ts:3',
    violations: [violation],
    reverted: true,
  });
  expect(linesFor({ type: 'attempt.judged', causeId: 'c1', attempt }, paint)).toEqual(['c1 rejected']);
});

it.each([
  ['timed-out', 0, 'c1 attempt 1: agent ran out of time after 6s'],
  ['unchanged', 0, 'c1 attempt 1: agent changed nothing after 6s'],
  ['completed', 2, 'c1 attempt 1: agent completed after 6s, 2 files changed'],
] as const)('CL-13 says how an agent ended: %s', (outcome, filesChanged, line) => {
  const event = { type: 'agent.ended', causeId: 'c1', attempt: 1, outcome, filesChanged } as const;
  const rest = { durationMs: 6000, costUsd: null, agentError: null, orphans: [] };
  expect(linesFor({ ...event, ...rest }, paint)).toEqual([line]);
});

it('RP-1 ME-6 prints the question of an escalation once', () => {
  const question = 'Which price is right?';
  const asked = { type: 'agent.waiting_for_input', causeId: 'c1', question, escalationId: 'e1' } as const;
  const ended = { type: 'cause.ended', causeId: 'c1', verdict: 'escalated', reason: question } as const;
  const lines = [asked, { ...ended, attempts: 1, costUsd: null }].flatMap((event) => linesFor(event, paint));
  expect(lines).toEqual([`c1 needs review: ${question} (self-heal escalations show e1)`]);
});

it('CS-6 shows the warning of an unknown class', () => {
  const cause = {
    id: 'c1',
    signature: 's',
    category: 'unknown' as const,
    alternatives: [],
    why: [],
    confidence: 0,
    tests: [aTest('t1'), aTest('t2')],
    headline: 'Error: ?',
    source: null,
    evidence: 'failures/1',
    parent: null,
    warning: 'Error type unknown, using default agent',
  };
  expect(linesFor({ type: 'cause.found', cause }, paint)).toEqual([
    'c1 unknown: Error: ?',
    '   [chromium] › cart.spec.ts:12 › adds t1 (and 1 more test)',
    '   Error type unknown, using default agent',
  ]);
});
