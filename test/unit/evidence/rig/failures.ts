import type { ConsoleEntry, NetworkEntry } from '../../../../src/core/evidence.js';
import type { SuiteFailure, TestError, TestFailure } from '../../../../src/core/failure.js';
import type { SuiteRun } from '../../../../src/playwright/suite-run.js';

/** When the built test failures start, in milliseconds since the epoch; they last two seconds. */
export const startedAt = 1_795_000_000_000;

export function anError(fields: Partial<TestError> = {}): TestError {
  return { message: 'Error: boom', stack: null, snippet: null, location: null, causes: [], ...fields };
}

export function aTestFailure(fields: Partial<TestFailure> = {}): TestFailure {
  return {
    scope: 'test',
    test: {
      id: 'a1b2',
      titlePath: ['checkout.spec.ts', 'pays'],
      location: { file: '/shop/checkout.spec.ts', line: 3, column: 1 },
      project: 'chromium',
    },
    status: 'failed',
    errors: [anError()],
    failedStep: null,
    retry: 0,
    durationMs: 2_000,
    startedAt,
    attachments: [],
    ...fields,
  };
}

export function aSuiteFailure(fields: Partial<SuiteFailure> = {}): SuiteFailure {
  return { scope: 'suite', errors: [anError()], stderr: '', ...fields };
}

export function aRun(fields: Partial<SuiteRun> = {}): SuiteRun {
  return {
    status: 'failed',
    exitCode: 1,
    tests: [],
    failures: [],
    suiteFailure: null,
    rerunIds: {},
    serverLog: '/nowhere/server.log',
    rootDir: '/shop',
    configFile: null,
    durationMs: 3_000,
    endedAt: startedAt + 3_000,
    problems: [],
    ...fields,
  };
}

export function aConsoleEntry(fields: Partial<ConsoleEntry> = {}): ConsoleEntry {
  return { time: startedAt, type: 'log', text: 'hello', location: '', stack: null, ...fields };
}

export function aRequest(fields: Partial<NetworkEntry> = {}): NetworkEntry {
  return {
    time: startedAt,
    method: 'GET',
    url: 'http://localhost/',
    resourceType: 'fetch',
    status: 200,
    durationMs: 5,
    failure: null,
    requestHeaders: {},
    responseHeaders: {},
    requestBody: null,
    responseBody: null,
    ...fields,
  };
}
