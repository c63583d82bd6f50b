import type { TestError } from '../model/failure.js';

/** `[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "Uncaught …", source: …`. A page's console message may span several lines. */
const outputLine =
  /^.{0,20}\[pid=\d{1,10}\]\[(?:err|out)\] (?:\[[^\]\n]{1,100}:CONSOLE[:(]\d{1,9}\)?\] "[^]{0,8000}?", source: )?.*\n?/gm;

/** The header, the launch command and the request to close, but not the line about the end of the process. */
const logFrame =
  /^Browser logs:\n\n?|^.{0,20}(?:<launch(?:ing|ed)> |\[pid=\d{1,10}\] <gracefully close ).*\n?/gm;

/** If the browser did not start, its output gives the reason. */
const startError = /\bbrowserType\.|Failed to launch/i;

/**
 * Removes the browser's output, which Playwright adds to the error of an action that the end of the browser interrupted. Its amount depends on
 * timing, and most of it is harmless. The console messages of pages are separate evidence (CS-7).
 */
function removeBrowserOutput(text: string): string {
  const hasOutput = text.includes('[pid=') || text.includes('Browser logs:');
  return hasOutput && !startError.test(text) ? text.replace(outputLine, '').replace(logFrame, '') : text;
}

/** Playwright's message for an action, or a navigation, whose page was closed. */
const closedError =
  /Target page, context or browser has been closed|net::ERR_ABORTED; maybe frame was detached\?/;
const timeLimit = /^(?:Error: )?(Test timeout of \d+ ?ms exceeded)/;

/**
 * Makes the errors of a test independent of timing. At a test's time limit, Playwright aborts the current action and then closes the page. Either may
 * end the action first, so an action that ended with the page gets the message of the time limit. Removes the browser's output.
 */
export function stabilizeTimeoutErrors(errors: readonly TestError[]): TestError[] {
  const limitIndex = errors.findIndex(({ message }) => timeLimit.test(message));
  const limitMessage = timeLimit.exec(errors[limitIndex]?.message ?? '')?.[1];
  return errors.map((error, index) => {
    const isAfterLimit = limitMessage !== undefined && index > limitIndex;
    const stabilize = (text: string) => {
      const withoutOutput = removeBrowserOutput(text);
      return isAfterLimit ? withoutOutput.replace(closedError, `${limitMessage}.`) : withoutOutput;
    };
    return { ...error, message: stabilize(error.message), stack: error.stack && stabilize(error.stack) };
  });
}
