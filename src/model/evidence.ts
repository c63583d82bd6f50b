import { z } from 'zod';
import { testErrorShape } from './failure.js';
import { listOf, textOrNull, textList } from './shape.js';

const numberOrNull = z.number().nullable();

/** One line of the page's console, an uncaught page error (`type: 'pageerror'`), or a dialog. */
const consoleEntryShape = z.object({
  /** Milliseconds since the epoch. */
  time: z.number(),
  /** Playwright's `ConsoleMessage.type()`, `pageerror`, or `dialog` (then `text` is its message and who closed it). */
  type: z.string(),
  text: z.string(),
  /** `url:line:column` if the browser reports it, else empty. */
  location: z.string(),
  /** The stack of a page error, else null. */
  stack: textOrNull,
  /** True if passing tests of the run have it as often, so it hardly explains the failure; absent without passing tests to compare with. */
  common: z.boolean().exactOptional(),
});
export type ConsoleEntry = z.infer<typeof consoleEntryShape>;

/** True if a console entry reports an error. Vue logs warnings where other frameworks log errors. */
export function isErrorEntry({ type, text }: Pick<ConsoleEntry, 'type' | 'text'>): boolean {
  return type === 'pageerror' || type === 'error' || (type === 'warning' && text.startsWith('[Vue warn]: '));
}

/** One request from the page, or from the test itself, and its result. */
const networkEntryShape = z.object({
  /** Milliseconds since the epoch, when the request was sent. */
  time: z.number(),
  method: z.string(),
  url: z.string(),
  /** Playwright's `resourceType()`: document, fetch, xhr, script …; `api` if the test itself sent it (`APIRequestContext`). */
  resourceType: z.string(),
  /** HTTP status, or null if there was no response. */
  status: numberOrNull,
  /** Time to the response in milliseconds, or null. */
  durationMs: numberOrNull,
  /** The browser's text for a failed request (`net::ERR_CONNECTION_REFUSED`), `unanswered`, or null. */
  failure: textOrNull,
  requestHeaders: z.record(z.string(), z.string()),
  responseHeaders: z.record(z.string(), z.string()),
  requestBody: textOrNull,
  responseBody: textOrNull,
  /** Who answered if not a server: a route of the test, or the browser itself (its cache, or a service worker). */
  answeredBy: z.enum(['test', 'no-server']).exactOptional(),
  /** Set if a service worker sent it. */
  isOfServiceWorker: z.literal(true).exactOptional(),
  /** Set if its response had begun but was incomplete when the test ended. */
  isOpen: z.literal(true).exactOptional(),
  /** True if passing tests of the run have it as often, so it hardly explains the failure; absent without passing tests to compare with. */
  common: z.boolean().exactOptional(),
});
export type NetworkEntry = z.infer<typeof networkEntryShape>;

/** The `failure` of a call from the page that was still waiting for its response when the test ended. */
export const unanswered = 'no answer until the test ended';

/** True if the request got no response, or one with an error status. */
export function hasFailed({ status, failure }: Pick<NetworkEntry, 'status' | 'failure'>): boolean {
  return failure !== null || (status !== null && status >= 400);
}

/** One step of the test. */
const stepShape = z.object({
  /** Milliseconds since the epoch, when it began. */
  time: z.number(),
  /** Null if it had not ended when the test did. */
  durationMs: numberOrNull,
  /** Playwright's title: `Click getByRole('button')`. */
  title: z.string(),
  /** `tests/cart.spec.ts:12`, relative to the project; empty for a step of Playwright itself. */
  at: z.string(),
  /** Its error, or null. */
  error: textOrNull,
  /** Playwright's log of the step, if the test failed at it or it took long. */
  log: textList,
  /** Set if the test failed at this step. */
  isFailing: z.literal(true).exactOptional(),
});
export type TestStep = z.infer<typeof stepShape>;

/** One line that a server of the suite wrote; its time is in milliseconds since the epoch. */
const serverLineShape = z.object({ time: z.number(), text: z.string() });
export type ServerLine = z.infer<typeof serverLineShape>;

/** The lines around a stack position in the user's own code. */
const sourceShape = z.object({
  /** The position after source mapping: `src/form.tsx:12:5`. */
  at: z.string(),
  /** The position in the code that ran: `http://localhost/assets/index-4f2a.js:1:2345`. */
  generated: z.string(),
  /** Five numbered lines, with the line of the position marked by `>`; null if the source is not available. */
  snippet: textOrNull,
});
export type SourceExcerpt = z.infer<typeof sourceShape>;

/** One element on the page with the parts that locators can match, without user input. */
const elementShape = z.object({
  tag: z.string(),
  /** Its own text, without its child elements' text. */
  text: z.string(),
  /** The text of its labels; empty if it has none. */
  label: z.string(),
  attributes: z.record(z.string(), z.string()),
});
export type PageElement = z.infer<typeof elementShape>;

/**
 * The stored part of the evidence of one failure, with bounded sizes. `missing` and `cut` describe absent and shortened parts,
 * because missing evidence does not show that something did not happen.
 */
export const evidenceShape = z.object({
  errors: listOf(testErrorShape),
  failedStep: textOrNull,
  /** The steps of the test in chronological order; absent without a trace. */
  steps: listOf(stepShape).exactOptional(),
  console: listOf(consoleEntryShape),
  network: listOf(networkEntryShape),
  /** Output of the project's web servers (and, for a suite failure, of Playwright itself) around the failure. */
  serverOutput: z.string(),
  /** All output of the servers during the test, with times; absent if unknown. */
  serverLines: listOf(serverLineShape).exactOptional(),
  /** Output lines that may not be about this failure: passing tests have them, too, or the test had no active request. */
  ofOthers: textList.exactOptional(),
  /** Playwright's accessibility snapshot of the page (YAML) or, without one, its elements, one per line; empty for a blank page, null if unknown. */
  ariaSnapshot: textOrNull,
  /** The page's URL at the failure, or null. */
  pageUrl: textOrNull,
  /** Absolute path of the screenshot, or null; as stored, its name. */
  screenshot: textOrNull,
  missing: textList,
  cut: textList,
  /** A different failure in the other one of the test's two runs; absent if both failed alike. */
  otherRun: z
    .object({ run: z.enum(['first', 'confirming']), errors: listOf(testErrorShape) })
    .exactOptional(),
  /** Lines of the user's own code at the positions in the stacks, through source maps if it is bundled. */
  sources: listOf(sourceShape),
  /** The elements on the page at the failure; absent or null if they were not read, or if there were too many. */
  elements: listOf(elementShape).nullable().exactOptional(),
});

/** Everything gathered about one failure. */
export interface Evidence extends z.infer<typeof evidenceShape> {
  /** Absolute path of a Playwright trace, or null. */
  readonly trace: string | null;
  /** The project's folder, to which paths are relative: files in it are the user's own code. */
  readonly rootDir: string;
  /** The repository or workspace that contains the project; files of its other packages are the user's own code, too. Default: `rootDir`. */
  readonly workspaceDir?: string;
}
