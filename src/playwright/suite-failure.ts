import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { type Location, plainError, type SuiteFailure, type TestError } from '../core/failure.js';
import type { PlaywrightExit } from './playwright-process.js';
import type { ReportState } from './report-state.js';

/** Whether this is what Playwright reports as an error when `maxFailures` tests have failed: it follows from those tests. */
export function isStop({ message }: TestError): boolean {
  return /Testing stopped early after \d+ maximum allowed failures/.test(message);
}

/** Returns the failure of the suite itself, or null: errors outside of any test, or Playwright ending early (CS-10). */
export function suiteFailureOf(
  { hello, errors: all, end }: ReportState,
  { exitCode, stderr }: PlaywrightExit,
): SuiteFailure | null {
  const errors = all.filter((error) => !isStop(error));
  if (end && errors.length === 0) return null;
  const text = stripVTControlCharacters(stderr);
  if (errors.length > 0) return { scope: 'suite', errors: telling(errors), stderr: text };
  // Playwright 1.50 creates its reporters before it complains about an unknown project.
  const reason = errorIn(text) ?? endedEarly(hello !== undefined, exitCode);
  return { scope: 'suite', errors: [reason], stderr: text };
}

/** Drops duplicates, and "No tests found" if there are other errors that explain it (a file that does not load). */
function telling(errors: readonly TestError[]): TestError[] {
  const distinct = errors.filter(
    (error, at) => errors.findIndex((other) => other.message === error.message) === at,
  );
  const others = distinct.filter((error) => !isNoTests(error));
  return others.length > 0 ? others : distinct;
}

/** Whether the error says that no test matched the selection. */
export function isNoTests(error: TestError): boolean {
  return /^(?:Error: )?No tests found/.test(error.message);
}

function endedEarly(hello: boolean, exitCode: number | null): TestError {
  const when = hello ? 'before it finished the run' : 'before it began';
  const how = exitCode === null ? 'a signal ended it' : `exit code ${exitCode}`;
  return plainError(`Error: Playwright ended ${when}: ${how}`);
}

/** Finds the error in what Playwright printed: if the config does not load, there is no reporter yet. */
function errorIn(stderr: string): TestError | null {
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
  return { ...plainError(message.slice(0, 16_000), locationIn(stack ?? message)), stack };
}

/** Returns the first position that is neither in `node_modules` nor inside Node. */
function locationIn(text: string): Location | null {
  // Babel's format: `SyntaxError: /a/file.ts: Unexpected token (3:10)`.
  const babel = /(?:^|\s)(\/[^\n:]+|[A-Za-z]:\\[^\n:]+): .*\((\d+):(\d+)\)/.exec(text);
  if (babel) return position(babel);
  const frames = text.matchAll(/(?:\(|at )((?:file:\/\/|\/|[A-Za-z]:\\)[^\n()]+?):(\d+):(\d+)/g);
  const own = [...frames].find((frame) => !frame[1]?.includes('node_modules'));
  return own ? position(own) : null;
}

function position([, file = '', line, column]: RegExpExecArray): Location {
  const path = file.startsWith('file://') ? fileURLToPath(file) : file;
  return { file: path, line: Number(line), column: Number(column) };
}
