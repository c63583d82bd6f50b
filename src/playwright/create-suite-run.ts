import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import {
  type Location,
  createPlainError,
  type SuiteFailure,
  type TestError,
  type TestFailure,
  type SuitePhase,
} from '../model/failure.js';
import type { PlaywrightExit } from './playwright-process.js';
import type { ReportState } from './report-state.js';
import type { SuiteRun, TestResult } from './suite-run.js';
import { tryOr } from '../result.js';

interface FinishedRun extends Pick<
  SuiteRun,
  'serverLog' | 'problems' | 'tracing' | 'serverPorts' | 'durationMs' | 'endedAt' | 'didNotExit'
> {
  readonly state: ReportState;
  readonly exit: PlaywrightExit;
  /** True if self-heal interrupted it. */
  readonly isInterrupted: boolean;
  readonly cwd: string;
  /** True if it selected its tests by id. */
  readonly hasSelectedIds: boolean;
}

/** Builds a `SuiteRun` from the report, the exit code and the standard error of a run. */
export function createSuiteRun(run: FinishedRun): SuiteRun {
  const { state, exit, isInterrupted, cwd, hasSelectedIds, didNotExit = false, ...results } = run;
  const tests = state.end?.tests ?? [];
  const suiteFailure = findSuiteFailure(state, exit);
  const isCutShort = isInterrupted && state.errors.length === 0;
  // If none of the ids exists any more, older versions report an error, and newer ones a passed run without tests (HL-10).
  const noTestExists = hasSelectedIds && suiteFailure?.errors.every(reportsNoTests);
  return {
    ...results,
    status: determineStatus(run),
    exitCode: exit.exitCode,
    tests,
    failures: tests
      .filter(({ outcome }) => outcome === 'unexpected')
      .map((result) => state.failedTries.get(result.test.id) ?? createFailureWithoutDetails(result)),
    suiteFailure: isCutShort || noTestExists ? null : suiteFailure,
    rerunIds: state.end?.rerunIds ?? {},
    rootDir: state.configured?.rootDir ?? cwd,
    configFile: state.configured?.configFile ?? null,
    serial: state.end?.serial ?? [],
    stoppedEarly: state.errors.some(isMaxFailuresError),
    reusedServer: state.begin?.reusedServer ?? null,
    traces: state.traces,
    didNotExit,
  };
}

function determineStatus({ state, isInterrupted }: FinishedRun): SuiteRun['status'] {
  if (state.end) return state.end.status;
  if (isInterrupted) return 'interrupted';
  return state.hello ? 'failed' : 'no-report';
}

/** Creates a failure for a failing test whose try was not reported, for example because the disk was full. */
function createFailureWithoutDetails({ test, durationMs, retries }: TestResult): TestFailure {
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

/** True for Playwright's error after `maxFailures` failed tests, which only follows from those tests. */
function isMaxFailuresError({ message }: TestError): boolean {
  return /Testing stopped early after \d+ maximum allowed failures/.test(message);
}

/** Returns the failure of the suite itself (CS-10), or null: errors outside of tests, or an early end of Playwright. */
function findSuiteFailure(state: ReportState, { exitCode, stderr }: PlaywrightExit): SuiteFailure | null {
  const { hello, errors: all, end } = state;
  const errors = all.filter((error) => !isMaxFailuresError(error));
  if (end && errors.length === 0) return null;
  const text = stripVTControlCharacters(stderr);
  // Playwright 1.50 creates its reporters before it reports an unknown project.
  const reasons =
    errors.length > 0
      ? removeConsequences(errors)
      : [findError(text) ?? createEarlyEndError(hello !== undefined, exitCode)];
  const phase = findPhase(state, reasons);
  return { scope: 'suite', errors: reasons, stderr: text, ...(phase === null ? {} : { phase }) };
}

/** Removes duplicates, and "No tests found" if another error explains it, such as a file that does not load. */
function removeConsequences(errors: readonly TestError[]): TestError[] {
  const distinct = errors.filter(
    (error, at) => errors.findIndex((other) => other.message === error.message) === at,
  );
  const others = distinct.filter((error) => !reportsNoTests(error));
  return others.length > 0 ? others : distinct;
}

/** True if the error says that no test matched the selection. */
export function reportsNoTests(error: TestError): boolean {
  return /^(?:Error: )?No tests found/.test(error.message);
}

function createEarlyEndError(hasBegun: boolean, exitCode: number | null): TestError {
  const when = hasBegun ? 'before it finished the run' : 'before it started the run';
  const how = exitCode === null ? 'a signal ended it' : `exit code ${exitCode}`;
  return createPlainError(`Error: Playwright ended ${when}: ${how}`);
}

/** Finds the error in Playwright's output. If the config does not load, there is no reporter. */
function findError(stderr: string): TestError | null {
  const lines = stderr.split('\n');
  const first = lines.findIndex((line) => /^\s*(?:\w*Error|error)\b.*?:/.test(line));
  if (first < 0) return null;
  const isFrame = (line: string): boolean => /^\s+at /.test(line);
  const rest = lines.slice(first);
  const frames = rest.findIndex(isFrame);
  const message = rest
    .slice(0, frames < 0 ? undefined : frames)
    .join('\n')
    .trim();
  const stack = frames < 0 ? null : [message, ...rest.slice(frames).filter(isFrame)].join('\n');
  return { ...createPlainError(message.slice(0, 16_000), findLocation(stack ?? message)), stack };
}

/** Returns the first position that is neither in `node_modules` nor inside Node. */
function findLocation(text: string): Location | null {
  // Babel's format: `SyntaxError: /a/file.ts: Unexpected token (3:10)`.
  const babel = /(?:^|\s)(\/[^\n:]+|[A-Za-z]:\\[^\n:]+): .*\((\d+):(\d+)\)/.exec(text);
  if (babel) return parsePosition(babel);
  const frames = text.matchAll(/(?:\(|at )((?:file:\/\/|\/|[A-Za-z]:\\)[^\n()]+?):(\d+):(\d+)/g);
  const frame = [...frames].find((frame) => !frame[1]?.includes('node_modules'));
  return frame ? parsePosition(frame) : null;
}

function parsePosition([, file = '', line, column]: RegExpExecArray): Location {
  const path = file.startsWith('file://') ? fileURLToPath(file) : file;
  return { file: path, line: Number(line), column: Number(column) };
}

const serverError =
  /config\.webServer|is already used, make sure that nothing is running|^Error: Failed to launch: /;

/** Returns the phase in which Playwright failed outside of its tests, or null if it is not known. */
function findPhase({ configured, begin }: ReportState, errors: readonly TestError[]): SuitePhase | null {
  const [error] = errors;
  const config = configured?.configFile ?? null;
  if (!error || (begin?.total ?? 0) > 0) return null;
  if (!configured)
    return error.location ? { kind: 'config', at: error.location, servers: [], file: null } : null;
  const { webServers = [], globalSetup = [] } = configured;
  if (serverError.test(error.message)) {
    const namedServers = webServers.filter(({ url }) => url !== null && error.message.includes(url));
    const servers = namedServers.length > 0 ? namedServers : webServers;
    const [first] = servers;
    const at = findLine(config, first?.command) ?? findLine(config, 'webServer');
    return { kind: 'web-server', at, servers, file: null };
  }
  const [file] = globalSetup;
  const failingFile = globalSetup.find(
    (setUp) => (error.stack ?? '').includes(setUp) || error.location?.file === setUp,
  );
  if (file === undefined || (failingFile === undefined && !isSetUpError(error))) return null;
  return {
    kind: 'global-setup',
    at: findLine(config, 'globalSetup'),
    servers: [],
    file: failingFile ?? file,
  };
}

/** True if an error comes from the setup. The error of a spec that does not load has a location. */
function isSetUpError({ location, message }: TestError): boolean {
  return location === null && !/No tests found|Cannot find module|SyntaxError/.test(message);
}

/** Returns the first line of a file that contains a text. */
function findLine(file: string | null, text: string | undefined): Location | null {
  if (file === null || !text) return null;
  const lines = tryOr('', () => readFileSync(file, 'utf8')).split('\n');
  const index = lines.findIndex((line) => line.includes(text));
  return index === -1 ? null : { file, line: index + 1, column: 1 };
}
