import { z } from 'zod';
import { listOf, textOrNull, textList } from './shape.js';

/** A position in a file of the user's project; the path is absolute, and line and column count from 1. */
const locationShape = z.object({ file: z.string(), line: z.number(), column: z.number() });
export type Location = z.infer<typeof locationShape>;

/** Identifies one test of the suite by Playwright's own id (stable across runs; changes when the test is renamed). */
export const testShape = z.object({
  id: z.string(),
  /** Playwright's `titlePath()` without the root and the project: file, describe blocks, title. */
  titlePath: textList,
  location: locationShape,
  /** The name of the Playwright project; empty if the config does not name it. */
  project: z.string(),
});
export type TestRef = z.infer<typeof testShape>;

/** Names a test by its file and titles, without its Playwright project: `cart.spec.ts › cart › checks out`. */
export function formatTitles(titlePath: readonly string[]): string {
  return titlePath.join(' › ').replaceAll(/\s+/g, ' ');
}

/** One error as Playwright reports it, without terminal colors. */
export const testErrorShape = z.object({
  /** `Name: text` plus the matcher's details; for `throw 'string'`, the thrown text. */
  message: z.string(),
  stack: textOrNull,
  snippet: textOrNull,
  location: locationShape.nullable(),
  /** The chain of `error.cause`, outermost first, each as `Name: text`. */
  causes: textList,
});
export type TestError = z.infer<typeof testErrorShape>;

/** Creates an error that has only a message. */
export function createPlainError(message: string, location: Location | null = null): TestError {
  return { message, stack: null, snippet: null, location, causes: [] };
}

/** A file that Playwright attached to a result. */
export interface Attachment {
  readonly name: string;
  readonly contentType: string;
  readonly path: string;
}

/** The setup of a test: the projects on which its own project depends, and its stored session. */
const setUpShape = z.object({
  projects: textList,
  /** Relative to the folder in which the suite was started, or null. */
  storageState: textOrNull,
  /** How long before the test that file was written, in milliseconds; null if it does not exist. */
  storageAgeMs: z.number().nullable(),
  /** Set if the session has neither cookies nor local storage. */
  isStorageEmpty: z.literal(true).exactOptional(),
});
export type SetUp = z.infer<typeof setUpShape>;

/** One red test of one suite run, without the files that Playwright deletes. */
export const testFailureShape = z.object({
  scope: z.literal('test'),
  test: testShape,
  status: z.enum(['failed', 'timedOut', 'interrupted', 'passed']),
  errors: listOf(testErrorShape),
  /** The title of the innermost step that failed (`Click getByRole('button')`), or null. */
  failedStep: textOrNull,
  /** The element actions that were still running when the test ended, `Click getByRole('button')`; absent if there were none. */
  unfinished: textList.exactOptional(),
  /** Which of Playwright's own retries this was; 0 is the first try. */
  retry: z.number(),
  durationMs: z.number(),
  /** When this try started, in milliseconds since the epoch. */
  startedAt: z.number(),
  /** Absent if there was no setup. */
  setUp: setUpShape.exactOptional(),
});

/** One red test of one suite run, as plain data from Playwright. */
export interface TestFailure extends z.infer<typeof testFailureShape> {
  readonly attachments: readonly Attachment[];
}

/** A web server of a Playwright config. */
const webServerShape = z.object({
  command: z.string(),
  /** Relative to the folder in which the suite was started; `.` is that folder. */
  cwd: z.string(),
  /** The URL for which Playwright waits, or null. */
  url: textOrNull,
});
export type WebServer = z.infer<typeof webServerShape>;

/** The step at which the suite failed outside of its tests. */
const phaseShape = z.object({
  kind: z.enum(['config', 'web-server', 'global-setup']),
  /** The position of this step in the config; null if unknown. */
  at: locationShape.nullable(),
  /** The web servers that may have failed; empty in another phase. */
  servers: listOf(webServerShape),
  /** The file of the global setup, as in the config, or null. */
  file: textOrNull,
});
export type SuitePhase = z.infer<typeof phaseShape>;

/**
 * A failure of the suite itself, outside of its tests (config, globalSetup, webServer, a spec that does not compile). It is one failure, regardless of
 * the number of tests that could not run.
 */
export const suiteFailureShape = z.object({
  scope: z.literal('suite'),
  errors: listOf(testErrorShape),
  /** The end of Playwright's standard error. */
  stderr: z.string(),
  /** The step at which the suite failed; absent if unknown. */
  phase: phaseShape.exactOptional(),
});
export type SuiteFailure = z.infer<typeof suiteFailureShape>;

/** One red test, or the suite's own failure. */
export type Failure = TestFailure | SuiteFailure;

/** Returns the tests of these failures, without the suite's own. */
export function listTests(failures: readonly { readonly failure: Failure }[]): TestRef[] {
  return failures.flatMap(({ failure }) => (failure.scope === 'test' ? [failure.test] : []));
}

/** Returns the key under which a failure is re-run and reported: the test's id, or `suite`. */
export function failureKey(failure: Failure): string {
  return failure.scope === 'test' ? failure.test.id : 'suite';
}

/** Formats a web server: `node server.mjs` in e2e, awaited at http://localhost:3000. */
export function formatServer({ command, cwd, url }: WebServer): string {
  const folder = cwd === '.' ? '' : ` in ${cwd}`;
  return `${command}${folder}${url === null ? '' : `, awaited at ${url}`}`;
}

/** Describes a failed web server if Playwright's error does not explain it; null if it does. */
export function describePhase({ kind, servers }: SuitePhase, message: string): string | null {
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

/** Describes the setup of a test in one line; null if there was none. */
export function describeSetUp({
  projects,
  storageState,
  storageAgeMs,
  isStorageEmpty,
}: SetUp): string | null {
  const setUps = projects.length > 0 ? [`setup projects that ran before: ${projects.join(', ')}`] : [];
  const age =
    storageAgeMs === null
      ? 'which does not exist'
      : `written ${Math.round(storageAgeMs / 1000)} s before the test${isStorageEmpty ? ' and empty: it has no cookies and no local storage' : ''}`;
  const session = storageState === null ? [] : [`starts with the stored session ${storageState}, ${age}`];
  const parts = [...setUps, ...session];
  return parts.length > 0 ? parts.join('; ') : null;
}
