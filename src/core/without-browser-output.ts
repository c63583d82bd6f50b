/** `[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "Uncaught …", source: …`; what a page said may be of several lines. */
const output =
  /^.{0,20}\[pid=\d{1,10}\]\[(?:err|out)\] (?:\[[^\]\n]{1,100}:CONSOLE[:(]\d{1,9}\)?\] "[^]{0,8000}?", source: )?.*\n?/gm;

/** Of a browser that did not start its output says why. */
const isAboutStart = /\bbrowserType\.|Failed to launch/i;

/**
 * An error's text without what the browser printed: Playwright adds it to the error of an action that the end of the browser cut off. How much of it
 * there is, is chance; most is harmless, and what pages say is evidence of its own, with the knowledge whether passing tests have it too (CS-7).
 */
export function withoutBrowserOutput(text: string): string {
  return text.includes('[pid=') && !isAboutStart.test(text) ? text.replace(output, '') : text;
}
