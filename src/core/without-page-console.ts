/**
 * Chromium prints what a page's console says (`[pid=7][err] [1122/101500.1:INFO:CONSOLE:1] "…", source: …`), and Playwright adds its browser's
 * output to the error of an action that the end of the browser cut off.
 */
const pageConsole =
  /^.{0,20}\[pid=\d{1,10}\]\[err\] \[[^\]\n]{1,100}:CONSOLE[:(]\d{1,9}\)?\] (?:"[^]{0,8000}?", source: )?.*\n?/gm;

/**
 * An error's text without what the pages of its browser said: the console's entries are evidence of their own, with the knowledge whether passing
 * tests have them too (CS-7), and how many there are is chance.
 */
export function withoutPageConsole(text: string): string {
  return text.includes(':CONSOLE') ? text.replace(pageConsole, '') : text;
}
