import type { TestError, TestFailure } from '../core/failure.js';
import { unreachable } from '../core/unreachable.js';
import { withoutChanceOfTheEnd } from '../core/end-of-the-browser.js';
import type { ReportLine } from './report-format.js';

/** How far a running suite has got. */
export interface SuiteProgress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** The test that ended most recently, as its titles joined by ` › `. */
  readonly test: string;
}

type Line<T extends ReportLine['type']> = Extract<ReportLine, { type: T }>;

/** What the lines of a report have said so far. */
export interface ReportState {
  hello: boolean;
  configured: Line<'configured'> | null;
  begin: Line<'begin'> | null;
  progress: SuiteProgress;
  readonly errors: TestError[];
  /** The last failed try of each test, keyed by test id. */
  readonly tries: Map<string, TestFailure>;
  end: Line<'end'> | null;
}

/** Thousands of broken workers repeat the same errors; the first ones explain the run. */
const maxErrors = 100;

/** The state before any line. */
export function emptyReport(): ReportState {
  return {
    hello: false,
    configured: null,
    begin: null,
    progress: { done: 0, total: 0, failed: 0, test: '' },
    errors: [],
    tries: new Map(),
    end: null,
  };
}

/** Adds one line to the state. */
export function addLine(state: ReportState, line: ReportLine): void {
  switch (line.type) {
    case 'hello':
      state.hello = true;
      break;
    case 'configured':
      state.configured = line;
      break;
    case 'begin':
      state.begin = line;
      state.progress = { ...state.progress, total: line.total };
      break;
    case 'error':
      if (state.errors.length < maxErrors) state.errors.push(line.error);
      break;
    case 'failed-try':
      state.tries.set(line.failure.test.id, {
        ...line.failure,
        errors: withoutChanceOfTheEnd(line.failure.errors),
      });
      break;
    case 'test-end':
      state.progress = progressAfter(state.progress, line);
      break;
    case 'end':
      state.end = line;
      break;
    default:
      unreachable(line);
  }
}

function progressAfter({ done, total, failed }: SuiteProgress, line: Line<'test-end'>): SuiteProgress {
  return { done: done + 1, total, failed: failed + (line.failed ? 1 : 0), test: line.title };
}
