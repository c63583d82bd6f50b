import { reduceToEndpoint } from '../diagnose/group-keys.js';
import { listResponseTexts, formatRequest } from '../diagnose/requests.js';
import { stripAnsi } from '../visible-text.js';
import {
  type ConsoleEntry,
  hasFailed,
  isAlarming,
  type NetworkEntry,
  unanswered,
} from '../model/evidence.js';
import type { TestError, TestRef } from '../model/failure.js';
import { normalize } from '../diagnose/normalize.js';
import { unreachableError } from '../diagnose/unreached.js';
import { isRedirected } from '../diagnose/auth-redirects.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { EvidenceNotes } from './bounded-text.js';
import { readTrace } from './trace/read-trace.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { formatConsoleLine } from '../diagnose/evidence-texts.js';
import type { Reason } from '../model/diagnosis.js';
import { readAllServerOutput } from './server-output.js';
import { isLoopback, pathOf, splitUrl } from '../urls.js';

/** Counts the errors in a test's console and its failed requests, by key. */
export type Complaints = ReadonlyMap<string, number>;

/** Passing tests log fewer errors than this. */
const limits = { console: 300, network: 300 };

/** What the trace of a passing test shows; empty if the trace cannot be read. */
export interface PassingTest {
  readonly complaints: Complaints;
  readonly requests: PassingTrace['requests'];
  readonly writes: PassingTrace['writes'];
  /** The last screenshot of its page, or null. */
  readonly picture: Buffer | null;
}

export async function readPassingTrace(trace: string): Promise<PassingTest> {
  const notes = new EvidenceNotes((text) => text);
  const read = await notes.attempt('', () => readTrace({ file: trace, limits, notes }));
  const { console = [], network = [], screenshot = null } = read ?? {};
  const picture = screenshot?.kind === 'bytes' ? screenshot.bytes : null;
  const requests = network.map(({ time, durationMs }) => ({ time, durationMs }));
  return {
    complaints: countComplaints({ console, network }),
    requests,
    writes: listWrites(network),
    picture,
  };
}

/** Reads console errors and requests from the traces of the passing tests of a run. */
export async function readPassingTraces({ traces, tests }: SuiteRun): Promise<readonly PassingTrace[]> {
  const passing: PassingTrace[] = [];
  for (const { test, outcome } of tests) {
    const trace = outcome === 'expected' ? traces?.get(test.id) : undefined;
    if (trace === undefined) continue;
    const { complaints, requests, writes } = await readPassingTrace(trace);
    passing.push({ test, complaints, requests, writes });
  }
  return passing;
}

function countComplaints({ console, network }: Entries): Complaints {
  const keys = [
    ...console.filter(isAlarming).map(({ text }) => createConsoleKey(text)),
    ...network.filter((request) => hasFailed(request) || isRedirected(request)).map(createRequestKey),
    // A polling app always has an open request, which counts as unanswered if the test fails a moment later.
    ...network.filter(isOpen).map((request) => createRequestKey({ ...request, failure: unanswered })),
  ];
  const times = new Map<string, number>();
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  return times;
}

const MAX_WRITES = 5;

/** Returns the distinct requests that wrote data to the app. */
function listWrites(network: readonly NetworkEntry[]): string[] {
  const writes = network.filter(
    (entry) =>
      /^(?:POST|PUT|PATCH|DELETE)$/.test(entry.method) && !hasFailed(entry) && entry.answeredBy !== 'test',
  );
  const lines = writes.map(({ method, url }) => `${method} ${pathOf(url).slice(0, 120)}`);
  return [...new Set(lines)].slice(-MAX_WRITES);
}

function isOpen({ status, failure }: NetworkEntry): boolean {
  return status === null && failure === null;
}

/** A test that passed, and the complaints in its trace. */
export interface PassingTrace {
  readonly test: TestRef;
  readonly complaints: Complaints;
  /** When the test and its page sent requests, and how long these took. */
  readonly requests: readonly Pick<NetworkEntry, 'time' | 'durationMs'>[];
  /** Requests that wrote data to the app: `POST /sign-out`. */
  readonly writes: readonly string[];
}

type Entries = { readonly console: readonly ConsoleEntry[]; readonly network: readonly NetworkEntry[] };

/** Shorter texts also occur in unrelated errors. */
const shortestText = 12;
/** The line in which Playwright prints the actual value. */
const receivedLine = /^[ \t]*Received(?: \w+)?:.*$/gm;

/** Returns the passing tests in the file and project of a failing one. */
export function findPassingTestsOfFile(
  { test }: { readonly test: TestRef },
  passing: readonly PassingTrace[],
): readonly PassingTrace[] {
  return passing.filter(
    (other) => other.test.location.file === test.location.file && other.test.project === test.project,
  );
}

/**
 * Marks entries of a failing test as `common` if passing tests of the same file have them as often, because they do not explain the failure. For an
 * unreachable host, one passing test that has it is enough, even of another file if this one has none. Never marks an entry that the test's own
 * error quotes.
 */
export function markCommon<T extends Entries>(
  entries: T,
  failing: { readonly test: TestRef; readonly errors: readonly Pick<TestError, 'message'>[] },
  passing: readonly PassingTrace[],
): T {
  const { errors, test } = failing;
  const neighbors = findPassingTestsOfFile(failing, passing);
  const passingOfProject = passing.filter((other) => other.test.project === test.project);
  if (passingOfProject.length === 0) return entries;
  const isQuotedText = ({ text }: ConsoleEntry) =>
    text.length >= shortestText && errors.some(({ message }) => message.includes(text));
  const received = errors.flatMap(({ message }) => stripAnsi(message).match(receivedLine) ?? []);
  const isQuotedAnswer = (entry: NetworkEntry) =>
    listResponseTexts(entry).some((text) => received.some((line) => line.includes(text)));
  const counts = new Map<string, number>();
  const mark = <E extends ConsoleEntry | NetworkEntry>(
    entry: E,
    key: string,
    { compared = neighbors, isUnreachable }: { compared?: typeof neighbors; isUnreachable: boolean },
  ): E => {
    if (compared.length === 0) return entry;
    // The number of requests to an unreachable host depends only on how many pages a test opens.
    const times = isUnreachable ? 1 : (counts.get(key) ?? 0) + 1;
    counts.set(key, times);
    return { ...entry, common: compared.some(({ complaints }) => times <= (complaints.get(key) ?? 0)) };
  };
  // Which hosts the machine can reach does not depend on the test file.
  const choosePassingTests = ({ failure }: NetworkEntry) =>
    neighbors.length === 0 && unreachableError.test(failure ?? '') ? passingOfProject : neighbors;
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
      const options = { compared: choosePassingTests(request), isUnreachable: isUnreachable(failure, url) };
      return isQuotedAnswer(request) ? request : mark(request, createRequestKey(request), options);
    }),
  };
}

const MAX_CHARACTERS = 500;

/** Texts that differ only in ids, times and the like have the same key. */
export function createConsoleKey(text: string): string {
  return `console ${normalize(text.slice(0, MAX_CHARACTERS))}`;
}

/**
 * Returns the key of a request: its method, its URL without the query, and its status or failure. The test's own requests and those of its page
 * have different keys: an answer to the page does not show that the test's own request works.
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
  green: ReadonlyMap<DiagnosedFailure, Complaints>,
  { serverLog }: Pick<SuiteRun, 'serverLog'>,
): Promise<Map<DiagnosedFailure, readonly Reason[]>> {
  if (green.size === 0 || serverLog === '') return new Map();
  const output = await readAllServerOutput(serverLog).catch(() => '');
  const lines = output.split('\n').map(normalize);
  return new Map(
    [...green].map(([failure, complaints]) => [failure, findReasonsStillShown(failure, complaints, lines)]),
  );
}

function findReasonsStillShown(
  { failure, evidence, diagnosis }: DiagnosedFailure,
  complaints: Complaints,
  lines: readonly string[],
): Reason[] {
  if (failure.scope !== 'test') return [];
  const isStillShown = ({ source, evidence: text }: Reason) => {
    const mentionsReason = (entry: NetworkEntry) =>
      formatRequest(entry).includes(text) || (entry.responseBody ?? '').includes(text);
    if (source === 'console')
      return evidence.console.some(
        (entry) => formatConsoleLine(entry).includes(text) && complaints.has(createConsoleKey(entry.text)),
      );
    // A passing test may end while a call is open.
    const isFault = (entry: NetworkEntry) => entry.failure !== unanswered;
    if (source === 'network')
      return evidence.network.some(
        (request) => isFault(request) && mentionsReason(request) && complaints.has(createRequestKey(request)),
      );
    return source === 'server' && lines.some((line) => line.includes(normalize(text)));
  };
  return diagnosis.why.filter((reason) => reason.category === diagnosis.category && isStillShown(reason));
}
