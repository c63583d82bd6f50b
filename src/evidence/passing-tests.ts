import { reduceToEndpoint } from '../diagnose/group-keys.js';
import { listResponseTexts, formatRequest } from '../diagnose/requests.js';
import { stripAnsi } from '../visible-text.js';
import {
  type ConsoleEntry,
  hasFailed,
  isErrorEntry,
  type NetworkEntry,
  unanswered,
} from '../model/evidence.js';
import type { TestError, TestRef } from '../model/failure.js';
import { normalize } from '../diagnose/normalize.js';
import { unreachableError } from '../diagnose/unreachable-host.js';
import { isRedirected } from '../diagnose/auth-redirects.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { EvidenceNotes } from './bounded-text.js';
import { readTrace } from './trace/read-trace.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { formatConsoleLine } from '../diagnose/evidence-texts.js';
import type { Reason } from '../model/diagnosis.js';
import { readAllServerOutput } from './server-output.js';
import { isLoopback, getPath, splitUrl } from '../urls.js';

/** How often a test had each console error and each failed request, by key. */
export type ErrorCounts = ReadonlyMap<string, number>;

/** Enough for passing tests, which log fewer errors. */
const limits = { console: 300, network: 300 };

/** A passing test as its trace shows it; empty if the trace cannot be read. */
export interface PassingTest {
  readonly errorCounts: ErrorCounts;
  readonly requests: PassingTrace['requests'];
  readonly writes: PassingTrace['writes'];
  /** The last screenshot of its page, or null. */
  readonly picture: Buffer | null;
}

export async function readPassingTrace(trace: string): Promise<PassingTest> {
  const notes = new EvidenceNotes((text) => text);
  const read = await notes.tryGather('', () => readTrace({ file: trace, limits, notes }));
  const { console = [], network = [], screenshot = null } = read ?? {};
  const picture = screenshot?.kind === 'bytes' ? screenshot.bytes : null;
  const requests = network.map(({ time, durationMs }) => ({ time, durationMs }));
  return {
    errorCounts: countErrors({ console, network }),
    requests,
    writes: listWrites(network),
    picture,
  };
}

/** Reads console errors and requests from the traces of a run's passing tests. */
export async function readPassingTraces({ traces, tests }: SuiteRun): Promise<readonly PassingTrace[]> {
  const passing: PassingTrace[] = [];
  for (const { test, outcome } of tests) {
    const trace = outcome === 'expected' ? traces?.get(test.id) : undefined;
    if (trace === undefined) continue;
    const { errorCounts, requests, writes } = await readPassingTrace(trace);
    passing.push({ test, errorCounts, requests, writes });
  }
  return passing;
}

function countErrors({ console, network }: TestEntries): ErrorCounts {
  const keys = [
    ...console.filter(isErrorEntry).map(({ text }) => createConsoleKey(text)),
    ...network.filter((request) => hasFailed(request) || isRedirected(request)).map(createRequestKey),
    // A polling app always has an open request, which counts as unanswered if the test fails a moment later.
    ...network.filter(hasNoResponse).map((request) => createRequestKey({ ...request, failure: unanswered })),
  ];
  const countsByKey = new Map<string, number>();
  for (const key of keys) countsByKey.set(key, (countsByKey.get(key) ?? 0) + 1);
  return countsByKey;
}

const MAX_WRITES = 5;

/** Returns the distinct requests that wrote data to the app. */
function listWrites(network: readonly NetworkEntry[]): string[] {
  const writes = network.filter(
    (entry) =>
      /^(?:POST|PUT|PATCH|DELETE)$/.test(entry.method) && !hasFailed(entry) && entry.answeredBy !== 'test',
  );
  const lines = writes.map(({ method, url }) => `${method} ${getPath(url).slice(0, 120)}`);
  return [...new Set(lines)].slice(-MAX_WRITES);
}

function hasNoResponse({ status, failure }: NetworkEntry): boolean {
  return status === null && failure === null;
}

/** A test that passed, and the errors and requests in its trace. */
export interface PassingTrace {
  readonly test: TestRef;
  readonly errorCounts: ErrorCounts;
  /** When the test and its page sent requests, and how long these took. */
  readonly requests: readonly Pick<NetworkEntry, 'time' | 'durationMs'>[];
  /** Requests that wrote data to the app: `POST /sign-out`. */
  readonly writes: readonly string[];
}

type TestEntries = { readonly console: readonly ConsoleEntry[]; readonly network: readonly NetworkEntry[] };

/** Shorter texts also occur in unrelated errors. */
const MIN_QUOTED_LENGTH = 12;
/** The line in which Playwright prints the actual value. */
const receivedLine = /^[ \t]*Received(?: \w+)?:.*$/gm;

/** Returns the passing tests in the same file and project as a failing test. */
export function findPassingTestsInFile(
  { test }: { readonly test: TestRef },
  passing: readonly PassingTrace[],
): readonly PassingTrace[] {
  return passing.filter(
    (other) => other.test.location.file === test.location.file && other.test.project === test.project,
  );
}

/**
 * Marks entries of a failing test as `common` if a passing test of the same file has them as often, because they do not explain the failure. For an
 * unreachable host, once is enough, and a test of another file counts if this file has no passing test. Never marks an entry that the test's own error
 * quotes.
 */
export function markCommonEntries<T extends TestEntries>(
  entries: T,
  failing: { readonly test: TestRef; readonly errors: readonly Pick<TestError, 'message'>[] },
  passing: readonly PassingTrace[],
): T {
  const { errors, test } = failing;
  const neighbors = findPassingTestsInFile(failing, passing);
  const passingInProject = passing.filter((other) => other.test.project === test.project);
  if (passingInProject.length === 0) return entries;
  const isQuotedText = ({ text }: ConsoleEntry) =>
    text.length >= MIN_QUOTED_LENGTH && errors.some(({ message }) => message.includes(text));
  const received = errors.flatMap(({ message }) => stripAnsi(message).match(receivedLine) ?? []);
  const isQuotedResponse = (entry: NetworkEntry) =>
    listResponseTexts(entry).some((text) => received.some((line) => line.includes(text)));
  const counts = new Map<string, number>();
  const mark = <E extends ConsoleEntry | NetworkEntry>(
    entry: E,
    key: string,
    {
      comparedTests = neighbors,
      isUnreachable,
    }: { comparedTests?: typeof neighbors; isUnreachable: boolean },
  ): E => {
    if (comparedTests.length === 0) return entry;
    // The number of requests to an unreachable host depends only on how many pages a test opens.
    const times = isUnreachable ? 1 : (counts.get(key) ?? 0) + 1;
    counts.set(key, times);
    return {
      ...entry,
      common: comparedTests.some(({ errorCounts }) => times <= (errorCounts.get(key) ?? 0)),
    };
  };
  // Which hosts the machine can reach does not depend on the test file.
  const choosePassingTests = ({ failure }: NetworkEntry) =>
    neighbors.length === 0 && unreachableError.test(failure ?? '') ? passingInProject : neighbors;
  const isUnreachable = (failure: string | null, url: string) => {
    const host = splitUrl(url)?.host;
    return host !== undefined && !isLoopback(host) && unreachableError.test(failure ?? '');
  };
  return {
    ...entries,
    console: entries.console.map((entry) => {
      const { text, location } = entry;
      const options = { isUnreachable: isUnreachable(text, location) };
      return isQuotedText(entry) ? entry : mark(entry, createConsoleKey(text), options);
    }),
    network: entries.network.map((request) => {
      const { failure, url } = request;
      const options = {
        comparedTests: choosePassingTests(request),
        isUnreachable: isUnreachable(failure, url),
      };
      return isQuotedResponse(request) ? request : mark(request, createRequestKey(request), options);
    }),
  };
}

const MAX_CHARACTERS = 500;

/** Texts that differ only in ids, times and the like have the same key. */
export function createConsoleKey(text: string): string {
  return `console ${normalize(text.slice(0, MAX_CHARACTERS))}`;
}

/**
 * Returns the key of a request: its method, its URL without the query, and its status or failure. The test's own requests have different keys from
 * its page's: a response to the page does not show that the test's own request works.
 */
export function createRequestKey({ method, url, resourceType, status, failure }: NetworkEntry): string {
  const sender = resourceType === 'api' ? 'test' : 'page';
  return reduceToEndpoint(`${sender} ${method} ${url.slice(0, MAX_CHARACTERS)} → ${status ?? failure}`);
}

/**
 * For each failure whose test passes in a later run, returns the reasons of its diagnosis that this run still shows. They suggest that a fix only
 * hid the fault.
 */
export async function findRemainingReasons(
  errorCountsByFailure: ReadonlyMap<DiagnosedFailure, ErrorCounts>,
  { serverLog }: Pick<SuiteRun, 'serverLog'>,
): Promise<Map<DiagnosedFailure, readonly Reason[]>> {
  if (errorCountsByFailure.size === 0 || serverLog === '') return new Map();
  const output = await readAllServerOutput(serverLog).catch(() => '');
  const lines = output.split('\n').map(normalize);
  return new Map(
    [...errorCountsByFailure].map(([failure, errorCounts]) => [
      failure,
      findReasonsStillShown(failure, errorCounts, lines),
    ]),
  );
}

function findReasonsStillShown(
  { failure, evidence, diagnosis }: DiagnosedFailure,
  errorCounts: ErrorCounts,
  lines: readonly string[],
): Reason[] {
  if (failure.scope !== 'test') return [];
  const isStillShown = ({ source, evidence: text }: Reason) => {
    const mentionsReason = (entry: NetworkEntry) =>
      formatRequest(entry).includes(text) || (entry.responseBody ?? '').includes(text);
    if (source === 'console')
      return evidence.console.some(
        (entry) => formatConsoleLine(entry).includes(text) && errorCounts.has(createConsoleKey(entry.text)),
      );
    // A passing test may end while a call is open.
    const isAnswered = (entry: NetworkEntry) => entry.failure !== unanswered;
    if (source === 'network')
      return evidence.network.some(
        (request) =>
          isAnswered(request) && mentionsReason(request) && errorCounts.has(createRequestKey(request)),
      );
    return source === 'server' && lines.some((line) => line.includes(normalize(text)));
  };
  return diagnosis.why.filter((reason) => reason.category === diagnosis.category && isStillShown(reason));
}
