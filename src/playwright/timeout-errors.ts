import type { TestError } from '../model/failure.js';

/** `[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "Uncaught …", source: …`; a page's console message may span several lines. */
const output =
  /^.{0,20}\[pid=\d{1,10}\]\[(?:err|out)\] (?:\[[^\]\n]{1,100}:CONSOLE[:(]\d{1,9}\)?\] "[^]{0,8000}?", source: )?.*\n?/gm;

/** The header, the launch command, and the request to close. How the process ended is kept. */
const frame =
  /^Browser logs:\n\n?|^.{0,20}(?:<launch(?:ing|ed)> |\[pid=\d{1,10}\] <gracefully close ).*\n?/gm;

/** If the browser did not start, its output says why, so it is kept. */
const isAboutStart = /\bbrowserType\.|Failed to launch/i;

/**
 * Removes the browser's output from an error's text. Playwright adds it to the error of an action that the end of the browser cut
 * off. Its amount is a matter of timing, and most of it is harmless. What pages print is separate evidence, which also says whether
 * passing tests show the same (CS-7).
 */
function withoutBrowserOutput(text: string): string {
  const has = text.includes('[pid=') || text.includes('Browser logs:');
  return has && !isAboutStart.test(text) ? text.replace(output, '').replace(frame, '') : text;
}

/** Playwright's message for an action, or a navigation, whose page was closed. */
const closed = /Target page, context or browser has been closed|net::ERR_ABORTED; maybe frame was detached\?/;
const timeLimit = /^(?:Error: )?(Test timeout of \d+ ?ms exceeded)/;

/**
 * Makes the errors of a test independent of the timing of its end: removes the browser's output, and words the time limit in one way.
 * At a test's time limit, Playwright aborts the current action and then closes the page. Either may hit the action first, so an action
 * that the closing cut off gets the message it would have had if the time limit had come first.
 */
export function steadyTimeoutErrors(errors: readonly TestError[]): TestError[] {
  const limit = errors.findIndex(({ message }) => timeLimit.test(message));
  const exceeded = timeLimit.exec(errors[limit]?.message ?? '')?.[1];
  return errors.map((error, index) => {
    const isCutOff = exceeded !== undefined && index > limit;
    const read = (text: string) => {
      const said = withoutBrowserOutput(text);
      return isCutOff ? said.replace(closed, `${exceeded}.`) : said;
    };
    return { ...error, message: read(error.message), stack: error.stack === null ? null : read(error.stack) };
  });
}
