import type { TestFailure } from '../core/failure.js';
import type { PlaywrightExit } from './playwright-process.js';
import type { ReportState } from './report-state.js';
import { isNoTests, isStop, suiteFailureOf } from './suite-failure.js';
import type { SuiteRun, TestResult } from './suite-run.js';

/** What is known once Playwright's command has ended. */
export interface FinishedRun extends Pick<
  SuiteRun,
  'serverLog' | 'problems' | 'tracing' | 'durationMs' | 'endedAt' | 'endedLingering'
> {
  readonly state: ReportState;
  readonly exit: PlaywrightExit;
  /** Self-heal interrupted it. */
  readonly interrupted: boolean;
  readonly cwd: string;
  /** The run selected tests by id. */
  readonly byIds: boolean;
}

/** Builds a `SuiteRun` from the report, the exit code and the standard error of a run. */
export function suiteRunOf(run: FinishedRun): SuiteRun {
  const { state, exit, interrupted, cwd, byIds, endedLingering = false, ...known } = run;
  const tests = state.end?.tests ?? [];
  const suiteFailure = suiteFailureOf(state, exit);
  const cutShort = interrupted && state.errors.length === 0;
  // If none of the ids exists any more, older versions report an error and newer ones an empty run that passed (HL-10).
  const noneLeft = byIds && suiteFailure?.errors.every(isNoTests);
  return {
    ...known,
    status: statusOf(run),
    exitCode: exit.exitCode,
    tests,
    failures: failuresOf(tests, state),
    suiteFailure: cutShort || noneLeft ? null : suiteFailure,
    rerunIds: state.end?.rerunIds ?? {},
    rootDir: state.configured?.rootDir ?? cwd,
    configFile: state.configured?.configFile ?? null,
    serial: state.end?.serial ?? [],
    stoppedEarly: state.errors.some(isStop),
    reusedServer: state.begin?.reusedServer ?? null,
    traces: state.traces,
    endedLingering,
  };
}

function statusOf({ state, interrupted }: FinishedRun): SuiteRun['status'] {
  if (state.end) return state.end.status;
  if (interrupted) return 'interrupted';
  return state.hello ? 'failed' : 'no-report';
}

function failuresOf(tests: readonly TestResult[], { tries }: ReportState): TestFailure[] {
  return tests
    .filter(({ outcome }) => outcome === 'unexpected')
    .map((result) => tries.get(result.test.id) ?? untold(result));
}

/** A failure without details, for a failing test whose try could not be reported (a full disk, for example). */
function untold({ test, durationMs, retries }: TestResult): TestFailure {
  return {
    scope: 'test',
    test,
    status: 'failed',
    errors: [],
    failedStep: null,
    retry: retries,
    durationMs,
    startedAt: 0,
    attachments: [],
  };
}
