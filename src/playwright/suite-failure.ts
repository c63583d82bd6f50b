import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { Location, SuiteFailure, TestError } from '../core/failure.js';
import type { PlaywrightExit } from './playwright-process.js';
import type { ReportState } from './report-state.js';

/** The suite's own failure, or null: errors that no test has, or an end before the end (CS-10). */
export function suiteFailureOf(
  { hello, errors, end }: ReportState,
  { exitCode, stderr }: PlaywrightExit,
): SuiteFailure | null {
  if (end && errors.length === 0) return null;
  const text = stripVTControlCharacters(stderr);
  if (errors.length > 0) return { scope: 'suite', errors: telling(errors), stderr: text };
  // Playwright 1.50 makes its reporters first, and then complains of an unknown project.
  const reason = errorIn(text) ?? endedEarly(hello, exitCode);
  return { scope: 'suite', errors: [reason], stderr: text };
}

/** A file that does not load leaves no tests: Playwright then says so as well, which explains nothing. */
function telling(errors: readonly TestError[]): TestError[] {
  const distinct = errors.filter(
    (error, at) => errors.findIndex((other) => other.message === error.message) === at,
  );
  const others = distinct.filter((error) => !isNoTests(error));
  return others.length > 0 ? others : distinct;
}

/** Whether an error says that nothing matched the selection. */
export function isNoTests(error: TestError): boolean {
  return /^(?:Error: )?No tests found/.test(error.message);
}

function endedEarly(hello: boolean, exitCode: number | null): TestError {
  const when = hello ? 'before it finished the run' : 'before it began';
  const how = exitCode === null ? 'a signal ended it' : `exit code ${exitCode}`;
  return plainError(`Error: Playwright ended ${when}: ${how}`);
}

/** Playwright has no reporter yet where the config does not load: what is known is what it printed. */
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
  return { ...plainError(message.slice(0, 16_000)), stack, location: locationIn(stack ?? message) };
}

function plainError(message: string): TestError {
  return { message, stack: null, snippet: null, location: null, causes: [] };
}

/** The first position outside of packages and of Node itself. */
function locationIn(text: string): Location | null {
  // Babel's form: `SyntaxError: /a/file.ts: Unexpected token (3:10)`.
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
