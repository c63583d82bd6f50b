import type { ConsoleEntry, NetworkEntry } from '../../../../src/model/evidence.js';
import type { SuiteFailure, TestError, TestFailure } from '../../../../src/model/failure.js';
import type { SuiteRun } from '../../../../src/playwright/suite-run.js';
import * as plain from '../../../rig/builders.js';
import { logged, request } from '../../diagnose/classify-evidence.js';

/** When the built test failures start, in milliseconds since the epoch; they last two seconds. */
export const startedAt = 1_795_000_000_000;

export function anError(over: Partial<TestError> = {}): TestError {
  return plain.anError(undefined, over);
}

export function aTestFailure(over: Partial<TestFailure> = {}): TestFailure {
  const location = { file: '/shop/checkout.spec.ts', line: 3, column: 1 };
  const test = plain.aTest('a1b2', { titlePath: ['checkout.spec.ts', 'pays'], location });
  return plain.aTestFailure({ test, durationMs: 2_000, startedAt, ...over });
}

export function aSuiteFailure(over: Partial<SuiteFailure> = {}): SuiteFailure {
  return { ...plain.aSuiteFailure(), ...over };
}

export function aRun(over: Partial<SuiteRun> = {}): SuiteRun {
  const ended = { status: 'failed', exitCode: 1, durationMs: 3_000, endedAt: startedAt + 3_000 } as const;
  return plain.aSuiteRun({ ...ended, serverLog: '/nowhere/server.log', rootDir: '/shop', ...over });
}

export function aConsoleEntry(over: Partial<ConsoleEntry> = {}): ConsoleEntry {
  return logged('hello', { time: startedAt, type: 'log', ...over });
}

export function aRequest(over: Partial<NetworkEntry> = {}): NetworkEntry {
  const sent = { time: startedAt, method: 'GET', url: 'http://localhost/', status: 200, durationMs: 5 };
  return request({ ...sent, ...over });
}
