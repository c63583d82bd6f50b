import { withoutQuery } from '../diagnose/group-keys.js';
import { responseTexts, requestLine } from '../diagnose/requests.js';
import { stripAnsi } from '../visible-text.js';
import {
  type ConsoleEntry,
  hasFailed,
  isAlarming,
  type NetworkEntry,
  unanswered,
} from '../model/evidence.js';
import type { TestError, TestRef } from '../model/failure.js';
import { normalise } from '../diagnose/normalise.js';
import { noWay } from '../diagnose/unreached.js';
import { isRedirected } from '../diagnose/auth-redirects.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { EvidenceNotes } from './bounded-text.js';
import { readTrace } from './trace/read-trace.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { consoleLine } from '../diagnose/evidence-texts.js';
import type { Reason } from '../model/diagnosis.js';
import { serverOutput } from './server-output.js';
import { splitUrl } from '../urls.js';

/** How often each complaint of a test's page and of its requests occurred, by key. */
export type Complaints = ReadonlyMap<string, number>;

/** How much of a passing test's trace is kept: more than any passing test complains about. */
const limits = { console: 300, network: 300 };

/** What the trace of a passing test shows; nothing if it cannot be read. */
export interface PassingTest {
  readonly complaints: Complaints;
  readonly requests: PassingTrace['requests'];
  readonly writes: PassingTrace['writes'];
  /** The last picture of its page, or null. */
  readonly picture: Buffer | null;
}

/** Reads the trace of a test that passed. */
export async function readPassing(trace: string): Promise<PassingTest> {
  const missing = new EvidenceNotes((text) => text);
  const read = await missing.attempt('', () => readTrace({ file: trace, limits, missing }));
  const { console = [], network = [], screenshot = null } = read ?? {};
  const picture = screenshot?.kind === 'bytes' ? screenshot.bytes : null;
  const requests = network.map(({ time, durationMs }) => ({ time, durationMs }));
  return { complaints: complaintsOf({ console, network }), requests, writes: writesIn(network), picture };
}

/** Reads what each passing test of a traced run complained of. */
export async function complaintsOfPassing({ traces, tests }: SuiteRun): Promise<readonly PassingTrace[]> {
  const passing: PassingTrace[] = [];
  for (const { test, outcome } of tests) {
    const trace = outcome === 'expected' ? traces?.get(test.id) : undefined;
    if (trace === undefined) continue;
    const { complaints, requests, writes } = await readPassing(trace);
    passing.push({ test, complaints, requests, writes });
  }
  return passing;
}

function complaintsOf({ console, network }: Entries): Complaints {
  const keys = [
    ...console.filter(isAlarming).map(({ text }) => consoleKey(text)),
    ...network.filter((request) => hasFailed(request) || isRedirected(request)).map(requestKey),
    // An app that polls always has an open request, which may soon count as unanswered.
    ...network.filter(isOpen).map((request) => requestKey({ ...request, failure: unanswered })),
  ];
  const times = new Map<string, number>();
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  return times;
}

const mostWrites = 5;

/** Returns the requests that changed something in the app, each once. */
function writesIn(network: readonly NetworkEntry[]): string[] {
  const writes = network.filter(
    (entry) =>
      /^(?:POST|PUT|PATCH|DELETE)$/.test(entry.method) && !hasFailed(entry) && entry.answeredBy !== 'test',
  );
  const lines = writes.map(
    ({ method, url }) => `${method} ${(splitUrl(url)?.path ?? url).replace(/\?.*$/, '').slice(0, 120)}`,
  );
  return [...new Set(lines)].slice(-mostWrites);
}

function isOpen({ status, failure }: NetworkEntry): boolean {
  return status === null && failure === null;
}

/** A test that passed, and the complaints in its trace. */
export interface PassingTrace {
  readonly test: TestRef;
  readonly complaints: Complaints;
  /** When the requests of its page and its own were under way. */
  readonly requests: readonly Pick<NetworkEntry, 'time' | 'durationMs'>[];
  /** What it changed in the app: `POST /sign-out`. */
  readonly writes: readonly string[];
}

type Entries = { readonly console: readonly ConsoleEntry[]; readonly network: readonly NetworkEntry[] };

/** Shorter texts also occur in unrelated errors. */
const shortestText = 12;
/** What the page showed instead of what the test expected, as Playwright prints it. */
const receivedLine = /^[ \t]*Received(?: \w+)?:.*$/gm;

/** Returns the passing tests of the file and project of a failing one. */
export function neighboursOf(
  { test }: { readonly test: TestRef },
  passing: readonly PassingTrace[],
): readonly PassingTrace[] {
  return passing.filter(
    (other) => other.test.location.file === test.location.file && other.test.project === test.project,
  );
}

/**
 * Marks the entries of a failing test as `common` that passing tests of its file have as often, since they say nothing about the failure; for a host
 * that was not reached, passing tests of other files stand in if its own has none. What the test's own error contains is never marked: a text of the console, or an answer that the test received instead of the expected value.
 */
export function markCommon<T extends Entries>(
  entries: T,
  failing: { readonly test: TestRef; readonly errors: readonly Pick<TestError, 'message'>[] },
  passing: readonly PassingTrace[],
): T {
  const { errors, test } = failing;
  const neighbours = neighboursOf(failing, passing);
  const ofProject = passing.filter((other) => other.test.project === test.project);
  if (ofProject.length === 0) return entries;
  const isError = ({ text }: ConsoleEntry) =>
    text.length >= shortestText && errors.some(({ message }) => message.includes(text));
  const received = errors.flatMap(({ message }) => stripAnsi(message).match(receivedLine) ?? []);
  const isReceived = (entry: NetworkEntry) =>
    responseTexts(entry).some((text) => received.some((line) => line.includes(text)));
  const counts = new Map<string, number>();
  const marked = <E extends ConsoleEntry | NetworkEntry>(entry: E, key: string, among = neighbours): E => {
    if (among.length === 0) return entry;
    const times = (counts.get(key) ?? 0) + 1;
    counts.set(key, times);
    return { ...entry, common: among.some(({ complaints }) => times <= (complaints.get(key) ?? 0)) };
  };
  // What the machine reaches does not depend on the file of a test.
  const amongOf = ({ failure }: NetworkEntry) =>
    neighbours.length === 0 && noWay.test(failure ?? '') ? ofProject : neighbours;
  return {
    ...entries,
    console: entries.console.map((entry) => (isError(entry) ? entry : marked(entry, consoleKey(entry.text)))),
    network: entries.network.map((request) =>
      isReceived(request) ? request : marked(request, requestKey(request), amongOf(request)),
    ),
  };
}

const longest = 500;

/** Returns the key of a console entry's text; texts that differ only in what differs between runs have the same key. */
export function consoleKey(text: string): string {
  return `console ${normalise(text.slice(0, longest))}`;
}

/**
 * Returns the key of a request: its method, its URL without the query, and its status or failure. Requests of a test itself have other keys
 * than those of a page, since a passing test whose page got an answer says nothing about the test's own request.
 */
export function requestKey({ method, url, resourceType, status, failure }: NetworkEntry): string {
  const sender = resourceType === 'api' ? 'test' : 'page';
  return withoutQuery(`${sender} ${method} ${url.slice(0, longest)} → ${status ?? failure}`);
}

/**
 * Returns, for each failure whose test passed in a later run, the reasons of its class that this run still shows. A change that made the test
 * pass may only hide the fault. Reads the run's files.
 */
export async function reasonsLeft(
  green: ReadonlyMap<DiagnosedFailure, Complaints>,
  { serverLog }: Pick<SuiteRun, 'serverLog'>,
): Promise<Map<DiagnosedFailure, readonly Reason[]>> {
  if (green.size === 0 || serverLog === '') return new Map();
  const output = await serverOutput(serverLog).catch(() => '');
  const lines = output.split('\n').map(normalise);
  return new Map(
    [...green].map(([failure, complaints]) => [failure, remainingReasons(failure, complaints, lines)]),
  );
}

function remainingReasons(
  { failure, evidence, diagnosis }: DiagnosedFailure,
  complaints: Complaints,
  lines: readonly string[],
): Reason[] {
  if (failure.scope !== 'test') return [];
  const isLeft = ({ source, evidence: text }: Reason) => {
    const says = (entry: NetworkEntry) =>
      requestLine(entry).includes(text) || (entry.responseBody ?? '').includes(text);
    if (source === 'console')
      return evidence.console.some(
        (entry) => consoleLine(entry).includes(text) && complaints.has(consoleKey(entry.text)),
      );
    // An open call at the end of a passing test is no fault.
    const counts = ({ failure: how }: NetworkEntry) => how !== unanswered;
    if (source === 'network')
      return evidence.network.some(
        (request) => counts(request) && says(request) && complaints.has(requestKey(request)),
      );
    return source === 'server' && lines.some((line) => line.includes(normalise(text)));
  };
  return diagnosis.why.filter((reason) => reason.category === diagnosis.category && isLeft(reason));
}
