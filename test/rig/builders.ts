import { type Attempt, type AttemptEnd, createAttempt } from '../../src/model/attempt.js';
import type { Blame, BlamedHunk } from '../../src/model/blame.js';
import { noProjectRules } from '../../src/diagnose/rule.js';
import type { Cause, DiagnosedFailure } from '../../src/model/cause.js';
import type { Diagnosis } from '../../src/model/diagnosis.js';
import type { Escalation, Question } from '../../src/model/escalation.js';
import type { Evidence } from '../../src/model/evidence.js';
import type { SuiteFailure, TestError, TestFailure, TestRef } from '../../src/model/failure.js';
import type { Settings } from '../../src/model/settings.js';
import { createEmptyRun, type SuiteRun, type TestResult } from '../../src/playwright/suite-run.js';

export function aTest(id = 't1', over: Partial<TestRef> = {}): TestRef {
  const location = { file: '/project/tests/cart.spec.ts', line: 12, column: 1 };
  return { id, titlePath: ['cart.spec.ts', `adds ${id}`], location, project: 'chromium', ...over };
}

export function anError(message = 'Error: boom', over: Partial<TestError> = {}): TestError {
  return { message, stack: null, snippet: null, location: null, causes: [], ...over };
}

export function aTestFailure(over: Partial<TestFailure> = {}): TestFailure {
  return {
    scope: 'test',
    test: aTest(),
    status: 'failed',
    errors: [anError()],
    failedStep: null,
    retry: 0,
    durationMs: 100,
    startedAt: 0,
    attachments: [],
    ...over,
  };
}

export function aSuiteFailure(message = 'Error: the server did not start'): SuiteFailure {
  return { scope: 'suite', errors: [anError(message)], stderr: '' };
}

export function anEvidence(over: Partial<Evidence> = {}): Evidence {
  return {
    errors: [anError()],
    failedStep: null,
    console: [],
    network: [],
    serverOutput: '',
    ariaSnapshot: null,
    pageUrl: null,
    screenshot: null,
    trace: null,
    sources: [],
    missing: [],
    cut: [],
    rootDir: '/project',
    ...over,
  };
}

export function aDiagnosis(over: Partial<Diagnosis> = {}): Diagnosis {
  const facts = {
    errorType: 'Error',
    source: null,
    sql: null,
    sqlState: null,
    table: null,
    column: null,
    constraint: null,
    policy: null,
    endpoint: null,
    locator: null,
  };
  return {
    category: 'ui-error',
    alternatives: [],
    confidence: 0.8,
    why: [],
    retry: 'code_error',
    facts,
    warning: null,
    ...over,
  };
}

export function aDiagnosed(over: Partial<DiagnosedFailure> = {}): DiagnosedFailure {
  return {
    n: 1,
    failure: aTestFailure(),
    evidence: anEvidence(),
    diagnosis: aDiagnosis(),
    signature: 'shop:Error:00000001',
    rerunIds: ['t1'],
    ...over,
  };
}

/** Creates a diagnosed failure of the test with this id; `wrong` is the error message and part of the signature. */
export function failing(id: string, wrong = 'boom', over: Partial<DiagnosedFailure> = {}): DiagnosedFailure {
  return aDiagnosed({
    failure: aTestFailure({ test: aTest(id), errors: [anError(`Error: ${wrong}`)] }),
    evidence: anEvidence({ errors: [anError(`Error: ${wrong}`)] }),
    signature: `shop:Error:${wrong}`,
    rerunIds: [id],
    ...over,
  });
}

export function aCause(over: Partial<Cause> = {}): Cause {
  const lead = over.lead ?? aDiagnosed();
  return { id: 'c1', lead, members: [lead], parent: null, environment: null, ...over };
}

export function aBlamedHunk(over: Partial<BlamedHunk> = {}): BlamedHunk {
  return {
    file: '../api/cart.ts',
    line: 12,
    old: [],
    now: ['a', 'b', 'c', 'd'],
    whole: false,
    commit: { id: '3f2a91c0000', author: 'Ann', date: '2026-01-01T00:00:00Z', subject: 'Faster carts' },
    inTests: false,
    ...over,
  };
}

export function aBlame(over: Partial<Blame> = {}): Blame {
  return {
    base: { commit: 'ba5e000000', from: 'last-green' },
    hunks: [aBlamedHunk()],
    isMinimal: true,
    endedBy: null,
    outOf: 40,
    runs: 7,
    unresolved: 0,
    durationMs: 9000,
    change: '900000009',
    ...over,
  };
}

export function anAttempt(over: Partial<Attempt> = {}): Attempt {
  return {
    ...createAttempt(1),
    agent: 'debugger',
    slashCommand: '/debugger',
    runner: 'claude',
    exit: 'completed',
    end: anEnd('still-failing'),
    durationMs: 10,
    files: [{ path: 'src/a.ts', added: 1, removed: 1 }],
    ...over,
  };
}

/** A question to a person, about a page that does not show what a test expects. */
export function aQuestion(over: Partial<Question> = {}): Question {
  return {
    signature: 'shop:Error:00000001',
    category: 'ui-error',
    retry: 'code_error',
    tests: [{ id: 't1', name: 'cart.spec.ts › adds' }],
    problem: 'The page does not show what the test expects.',
    tried: ['/code-review changed nothing.'],
    recommendation: 'Say what is right.',
    choices: ['skip', 'simplify', 'guide'],
    offers: [],
    ...over,
  };
}

export function anEscalation(over: Partial<Escalation> = {}): Escalation {
  return {
    id: 'e1',
    project: 'shop',
    runId: 'run1',
    ...aQuestion({ tried: [] }),
    state: 'pending',
    choice: null,
    guidance: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    resolvedAt: null,
    closedBecause: null,
    ...over,
  };
}

export function someSettings(over: Partial<Settings> = {}): Settings {
  const agent = (name: string) => ({ name, slashCommand: `/${name}`, runner: 'fixer', timeoutMs: 60_000 });
  return {
    project: 'shop',
    agents: Object.fromEntries(
      ['build-doctor', 'database', 'debugger', 'code-review'].map((name) => [name, agent(name)]),
    ),
    runners: { fixer: { kind: 'command', command: ['fixer'], prompt: 'stdin' } },
    routes: {
      'build-error': ['build-doctor'],
      'database-error': ['database'],
      'runtime-error': ['debugger'],
      'ui-error': ['code-review'],
      'network-error': ['debugger'],
      unknown: ['debugger'],
      flaky: ['debugger'],
    },
    classify: noProjectRules,
    retries: { max: 3, backoff: { initialMs: 5000, factor: 2, maxMs: 60_000 } },
    limits: {
      agentRuns: 20,
      agentRunsPerTest: 6,
      costUsd: 10,
      timeMs: 3_600_000,
      escalations: 5,
      parallel: 1,
      perDay: { agentRuns: 200, costUsd: 100 },
    },
    evidence: { console: 50, network: 50 },
    memory: { fixes: true },
    verify: {
      level: 'full',
      intent: 'ask',
      review: 'off',
      prepare: null,
      confirm: 1,
      repeat: 1,
      flips: 0,
      regression: 'none',
      regressionTimeMs: 60_000,
    },
    blame: { enabled: true, timeMs: 120_000 },
    quarantine: [],
    flaky: { runs: 200, timeMs: 600_000 },
    store: '.self-heal/ledger.db',
    fixer: 'built-in',
    agentsWithDefaultRunner: [],
    reviewer: null,
    file: null,
    ...over,
  };
}

export function aResult(id: string, outcome: TestResult['outcome'] = 'expected'): TestResult {
  return { test: aTest(id), outcome, retries: 0, durationMs: 10 };
}

export function aSuiteRun(over: Partial<SuiteRun> = {}): SuiteRun {
  return { ...createEmptyRun('passed'), rootDir: '/project', durationMs: 100, ...over };
}

/** An end with a reason. */
export function anEnd(
  kind: Exclude<AttemptEnd['kind'], 'offered'>,
  because = 'the same error came back',
): AttemptEnd {
  if (kind === 'green') return { kind, proof: [] };
  if (kind === 'rejected') return { kind, because, violations: [] };
  return kind === 'unusable' ? { kind, because, remedy: 'Log in.' } : { kind, because };
}
