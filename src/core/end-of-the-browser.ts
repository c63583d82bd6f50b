import type { TestError } from './failure.js';

/** `[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "Uncaught …", source: …`; what a page said may be of several lines. */
const output =
  /^.{0,20}\[pid=\d{1,10}\]\[(?:err|out)\] (?:\[[^\]\n]{1,100}:CONSOLE[:(]\d{1,9}\)?\] "[^]{0,8000}?", source: )?.*\n?/gm;

/** Its head, the command that started it and that it was asked to close. How its process ended stays. */
const frame =
  /^Browser logs:\n\n?|^.{0,20}(?:<launch(?:ing|ed)> |\[pid=\d{1,10}\] <gracefully close ).*\n?/gm;

/** Of a browser that did not start its output says why. */
const isAboutStart = /\bbrowserType\.|Failed to launch/i;

/**
 * An error's text without what the browser printed: Playwright adds it to the error of an action that the end of the browser cut off. How much of it
 * there is, is chance; most is harmless, and what pages say is evidence of its own, with the knowledge whether passing tests have it too (CS-7).
 */
function withoutBrowserOutput(text: string): string {
  const has = text.includes('[pid=') || text.includes('Browser logs:');
  return has && !isAboutStart.test(text) ? text.replace(output, '').replace(frame, '') : text;
}

/** What Playwright says of an action whose page was closed, and of a navigation. */
const closed = /Target page, context or browser has been closed|net::ERR_ABORTED; maybe frame was detached\?/;
const timeLimit = /^(?:Error: )?(Test timeout of \d+ ?ms exceeded)/;

/**
 * The errors of a test without what the browser printed. At a test's time limit Playwright ends the action that is under way and then closes the page;
 * whichever comes first is chance, so that an action that the closing cut off says of the time limit what it says when that came first.
 */
export function withoutChanceOfTheEnd(errors: readonly TestError[]): TestError[] {
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
