/** A position in a file of the user's project; the path is absolute, and line and column count from 1. */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Identifies one test of the suite by Playwright's own id (stable across runs; changes when the test is renamed). */
export interface TestRef {
  readonly id: string;
  /** Playwright's `titlePath()` without the root and the project: file, describe blocks, title. */
  readonly titlePath: readonly string[];
  readonly location: Location;
  /** The name of the Playwright project; empty if the config does not name it. */
  readonly project: string;
}

/** Names a test by its file and titles, whatever the Playwright project: `cart.spec.ts › cart › checks out`. */
export function testName(titlePath: readonly string[]): string {
  return titlePath.join(' › ').replaceAll(/\s+/g, ' ');
}

/** One error as Playwright reports it, without terminal colors. */
export interface TestError {
  /** `Name: text` plus whatever the matcher adds; for `throw 'string'`, the thrown text. */
  readonly message: string;
  readonly stack: string | null;
  readonly snippet: string | null;
  readonly location: Location | null;
  /** The chain of `error.cause`, outermost first, each as `Name: text`. */
  readonly causes: readonly string[];
}

/** Returns an error of which only the message is known. */
export function plainError(message: string, location: Location | null = null): TestError {
  return { message, stack: null, snippet: null, location, causes: [] };
}

/** A file that Playwright attached to a result. */
export interface Attachment {
  readonly name: string;
  readonly contentType: string;
  readonly path: string;
}

/** One red test of one suite run, as plain data from Playwright. */
export interface TestFailure {
  readonly scope: 'test';
  readonly test: TestRef;
  readonly status: 'failed' | 'timedOut' | 'interrupted' | 'passed';
  readonly errors: readonly TestError[];
  /** The title of the innermost step that failed (`Click getByRole('button')`), or null. */
  readonly failedStep: string | null;
  /** The element actions that were still running when the test ended, `Click getByRole('button')`; absent if there were none. */
  readonly unfinished?: readonly string[];
  /** Which of Playwright's own retries this was; 0 is the first try. */
  readonly retry: number;
  readonly durationMs: number;
  /** When this try started, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly attachments: readonly Attachment[];
  /** Absent if nothing was set up. */
  readonly setUp?: SetUp;
}

/**
 * The suite's own failure before, beside or after its tests (config, globalSetup, webServer, a spec that does not compile): one
 * failure, however many tests it prevented.
 */
export interface SuiteFailure {
  readonly scope: 'suite';
  readonly errors: readonly TestError[];
  /** The end of what the Playwright command wrote to standard error. */
  readonly stderr: string;
  /** What Playwright was doing; absent if that is not known. */
  readonly phase?: Phase;
}

/** One red test, or the suite's own failure. */
export type Failure = TestFailure | SuiteFailure;

/** Returns the tests of these failures, without the suite's own. */
export function testsOf(failures: readonly { readonly failure: Failure }[]): TestRef[] {
  return failures.flatMap(({ failure }) => (failure.scope === 'test' ? [failure.test] : []));
}

/** The key under which a failure is re-run and reported: the test's id, or `suite`. */
export function failureKey(failure: Failure): string {
  return failure.scope === 'test' ? failure.test.id : 'suite';
}

/** A web server of a Playwright config. */
export interface WebServer {
  readonly command: string;
  /** Relative to the folder in which the suite was started; `.` is that folder. */
  readonly cwd: string;
  /** What Playwright waits for, or null. */
  readonly url: string | null;
}

/** What Playwright was doing for the suite when it failed outside of its tests. */
export interface Phase {
  readonly kind: 'config' | 'web-server' | 'global-setup';
  /** Where the config says what to do; null if that is not known. */
  readonly at: Location | null;
  /** The web servers that may have failed; empty in another phase. */
  readonly servers: readonly WebServer[];
  /** What the global set-up runs, as the config names it, or null. */
  readonly file: string | null;
}

/** What was done for a test before it: the projects on which its own depends, and the stored session that it starts with. */
export interface SetUp {
  readonly projects: readonly string[];
  /** Relative to the folder in which the suite was started, or null. */
  readonly storageState: string | null;
  /** How long before the test that file was written, in milliseconds; null if it does not exist. */
  readonly storageAgeMs: number | null;
}

/** Formats a web server: `node server.mjs` in e2e, awaited at http://localhost:3000. */
export function serverLine({ command, cwd, url }: WebServer): string {
  const place = cwd === '.' ? '' : ` in ${cwd}`;
  return `${command}${place}${url === null ? '' : `, awaited at ${url}`}`;
}

/** Describes what failed of a suite, as far as Playwright's error says only that it did; null if its error says it. */
export function phaseInWords({ kind, servers }: Phase, message: string): string | null {
  const [server, ...others] = servers;
  if (kind !== 'web-server' || !server || others.length > 0) return null;
  const exit = /Exit code: (\d+)/.exec(message)?.[1];
  if (exit !== undefined) return `the web server \`${server.command}\` ended with exit code ${exit}`;
  if (message.includes('exited early'))
    return `the web server \`${server.command}\` ended before it answered`;
  const waited = /Timed out waiting (\d+) ?ms/.exec(message)?.[1];
  if (waited === undefined) return null;
  return `the web server \`${server.command}\`${server.cwd === '.' ? '' : ` in ${server.cwd}`} did not become available${server.url === null ? '' : ` at ${server.url}`} within ${Number(waited) / 1000} s`;
}

/** Describes the set-up of a test in a line; null if there was none. */
export function setUpLine({ projects, storageState, storageAgeMs }: SetUp): string | null {
  const ran = projects.length > 0 ? [`set-up projects that ran before: ${projects.join(', ')}`] : [];
  const age =
    storageAgeMs === null
      ? 'which does not exist'
      : `written ${Math.round(storageAgeMs / 1000)} s before the test`;
  const session = storageState === null ? [] : [`starts with the stored session ${storageState}, ${age}`];
  const told = [...ran, ...session];
  return told.length > 0 ? told.join('; ') : null;
}
