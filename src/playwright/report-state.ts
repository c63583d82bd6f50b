import type { TestError, TestFailure } from '../model/failure.js';
import { stabilizeTimeoutErrors } from './timeout-errors.js';
import type { ReportLine } from './report-format.js';
import { createLineFollower } from '../state-folder.js';
import { systemClock } from '../clock.js';
import { parseJson } from '../parse-json.js';

/** The progress of a running suite. */
export interface SuiteProgress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** The test that ended most recently, as its titles joined by ` › `. */
  readonly test: string;
}

type Line<T extends ReportLine['type']> = Extract<ReportLine, { type: T }>;

/** The lines of a report so far. */
export interface ReportState {
  hello?: Line<'hello'>;
  configured?: Line<'configured'>;
  begin?: Line<'begin'>;
  end?: Line<'end'>;
  progress: SuiteProgress;
  readonly errors: TestError[];
  /** The first failed try of each test, keyed by test id. */
  readonly failedTries: Map<string, TestFailure>;
  /** The traces of tests that passed, by test id. */
  readonly traces: Map<string, string>;
}

/** Thousands of broken workers repeat the same errors; the first ones explain the run. */
const MAX_ERRORS = 100;

export function createEmptyReport(): ReportState {
  return {
    progress: { done: 0, total: 0, failed: 0, test: '' },
    errors: [],
    failedTries: new Map(),
    traces: new Map(),
  };
}

export function addLine(state: ReportState, line: ReportLine): void {
  const { progress, errors, failedTries } = state;
  if (line.type === 'error') {
    if (errors.length < MAX_ERRORS) errors.push(line.error);
  } else if (line.type === 'failed-try') {
    const failure = { ...line.failure, errors: stabilizeTimeoutErrors(line.failure.errors) };
    // The first failed try shows the cause. Later tries may fail because of its remains, such as a row that now exists.
    if (!failedTries.has(failure.test.id)) failedTries.set(failure.test.id, failure);
  } else if (line.type === 'passed') {
    state.traces.set(line.test, line.trace);
  } else if (line.type === 'progress') {
    const { done, failed, test } = line;
    state.progress = { ...progress, done, failed, test };
  } else {
    Object.assign(state, { [line.type]: line });
    if (line.type === 'begin') state.progress = { ...progress, total: line.total };
  }
}

/**
 * Passes new lines of a report to `onLines` until `finished` aborts, then reads the rest and resolves. Polls every `pollMs`, because some network and
 * container file systems do not report changes to a watcher. Skips incomplete lines, which a full disk leaves.
 */
export async function followReport(
  file: string,
  { finished, pollMs }: { readonly finished: AbortSignal; readonly pollMs: number },
  onLines: (lines: readonly ReportLine[]) => void,
): Promise<void> {
  const readNewLines = createLineFollower(() => file);
  const passLines = () => {
    const lines = readNewLines().flatMap((line) => (parseJson(line) as ReportLine | undefined) ?? []);
    if (lines.length > 0) onLines(lines);
  };
  while (!finished.aborted) {
    passLines();
    await systemClock.sleep(pollMs, finished);
  }
  passLines();
}
