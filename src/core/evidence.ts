import type { TestError } from './failure.js';

/** One line of the page's console, an uncaught error of the page (`type: 'pageerror'`), or a dialog that it opened. */
export interface ConsoleEntry {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Playwright's `ConsoleMessage.type()`, `pageerror`, or `dialog`: its words, and who closed it. */
  readonly type: string;
  readonly text: string;
  /** `url:line:column` if the browser reports it, else empty. */
  readonly location: string;
  /** The stack of a page error, else null. */
  readonly stack: string | null;
  /** Whether passing tests have it as often, so that it is the last thing to explain the failure. */
  readonly common?: boolean;
}

/** Whether the page says that something went wrong. Vue warns of what other frameworks report as errors. */
export function isAlarming({ type, text }: Pick<ConsoleEntry, 'type' | 'text'>): boolean {
  return type === 'pageerror' || type === 'error' || (type === 'warning' && text.startsWith('[Vue warn]: '));
}

/** One request of the page, or of the test itself, and its result. */
export interface NetworkEntry {
  /** Milliseconds since the epoch, when the request was sent. */
  readonly time: number;
  readonly method: string;
  readonly url: string;
  /** Playwright's `resourceType()`: document, fetch, xhr, script …; `api` if the test itself sent it (`APIRequestContext`). */
  readonly resourceType: string;
  /** HTTP status, or null if there was no response. */
  readonly status: number | null;
  /** Time to the response in milliseconds, or null. */
  readonly durationMs: number | null;
  /** The browser's text for a failed request (`net::ERR_CONNECTION_REFUSED`), `unanswered`, or null. */
  readonly failure: string | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | null;
  readonly responseBody: string | null;
  /** Whether its answer had begun, and not ended when the test did. */
  readonly isOpen?: true;
  /** Whether passing tests have it as often, so that it is the last thing to explain the failure. */
  readonly common?: boolean;
}

/** The `failure` of a call of the page that was still waiting for its answer when the test ended. */
export const unanswered = 'no answer until the test ended';

/** Whether the request got no response, or one with an error status. */
export function hasFailed({ status, failure }: Pick<NetworkEntry, 'status' | 'failure'>): boolean {
  return failure !== null || (status !== null && status >= 400);
}

/** One step of the test. */
export interface TestStep {
  /** Milliseconds since the epoch, when it began. */
  readonly time: number;
  /** Null if it had not ended when the test did. */
  readonly durationMs: number | null;
  /** As Playwright words it: `Click getByRole('button')`. */
  readonly title: string;
  /** `tests/cart.spec.ts:12`, relative to the project; empty for what Playwright did itself. */
  readonly at: string;
  /** Its error, or null. */
  readonly error: string | null;
  /** What it did and waited for, if the test failed at it or it took long. */
  readonly log: readonly string[];
  /** Whether the test failed at it. */
  readonly isFailing?: true;
}

/** One line that a server of the suite wrote. */
export interface ServerLine {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly text: string;
}

/** The lines around a position in the user's own code that appears in a stack. */
export interface SourceExcerpt {
  /** `src/form.tsx:12:5`, as in the texts after source mapping. */
  readonly at: string;
  /** The position in the code that ran: `http://localhost/assets/index-4f2a.js:1:2345`. */
  readonly generated: string;
  /** Five numbered lines, with the line of the position marked by `>`; null if the source is not available. */
  readonly snippet: string | null;
}

/** One element of the page with everything that locators can match, but without user input. */
export interface PageElement {
  readonly tag: string;
  /** Its own text, without that of child elements. */
  readonly text: string;
  /** The text of its labels; empty if it has none. */
  readonly label: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Everything gathered about one failure, with bounded sizes. `missing` and `cut` say in words what is absent and what was shortened,
 * so that nobody takes a gap for proof of absence.
 */
export interface Evidence {
  readonly errors: readonly TestError[];
  readonly failedStep: string | null;
  /** What the test did, in the order of time; absent without a trace. */
  readonly steps?: readonly TestStep[];
  readonly console: readonly ConsoleEntry[];
  readonly network: readonly NetworkEntry[];
  /** Output of the project's web servers (and, for a suite failure, of Playwright itself) around the failure. */
  readonly serverOutput: string;
  /** All that the servers wrote while the test ran, by their clock; absent if that is not known. */
  readonly serverLines?: readonly ServerLine[];
  /** Lines of the output that are not known to be about this failure: passing tests have them, too, or no request of the test was under way. */
  readonly ofOthers?: readonly string[];
  /** The accessibility snapshot of the page (YAML), empty if the page is blank; null if there is none. */
  readonly ariaSnapshot: string | null;
  /** The page's URL at the failure, or null. */
  readonly pageUrl: string | null;
  /** Absolute path of the screenshot, or null. */
  readonly screenshot: string | null;
  /** Absolute path of a Playwright trace, or null. */
  readonly trace: string | null;
  readonly missing: readonly string[];
  readonly cut: readonly string[];
  /** How the test failed in the other of its two runs, if it was of something else; absent if it was not. */
  readonly otherRun?: { readonly run: 'first' | 'confirming'; readonly errors: readonly TestError[] };
  /** Lines of the user's own code that the stacks point to, through source maps if it is bundled. */
  readonly sources: readonly SourceExcerpt[];
  /** The elements of the page at the failure; absent or null if they were not read, or were too many. */
  readonly elements?: readonly PageElement[] | null;
  /** The project's folder, to which paths are relative: files in it are the user's own code. */
  readonly rootDir: string;
  /** The repository or workspace that contains the project; files of its other packages are the user's own code, too. Default: `rootDir`. */
  readonly workspaceDir?: string;
}
