import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type NetworkEntry, type ServerLine, unanswered } from '../model/evidence.js';
import { formatServer, type SuiteFailure, type TestFailure, type WebServer } from '../model/failure.js';
import { splitLogBlocks } from '../diagnose/named-requests.js';
import { normalize } from '../diagnose/normalize.js';
import { runFiles } from '../playwright/report-format.js';
import { cleanAndClip, clipMiddle, type EvidenceNotes, bounds } from './bounded-text.js';
import {
  readLastTime,
  findLastTime,
  readLogEnds,
  readLogLines,
  readLogWindow,
  type LogPart,
  type TimeWindow,
} from './server-log.js';

/** Server output up to this long after the test is read, too: servers log a failed request slightly after they answer it. */
export const AFTER_TEST_MS = 2_000;
/** A log line this close to a response counts as about that request. The smallest distance is tried first. */
const NEARNESS_MS = [20, 80, 300];
/** The same distance for requests of passing tests. Later output may belong to the next test. */
const NEAR_PASSING_MS = 80;
/** A browser may report the start of a request this late; the server may have failed before. */
const REPORTED_LATE_MS = 20;
const errorWord = /(?:Error|Exception)\b|\b(?:error|fatal|panic(?:ked)?|traceback|unhandled)\b/i;
const warningWord = /\bwarn(?:ing)?\b/i;
/** A stack frame, as most languages print it. */
const frame = /^\s+(?:at |\d{1,5}: )/;
/** The maximum number of logs to read; each belongs to a worker that started servers. */
const MAX_LOGS = 50;
/** A proxy's message about its lost connection to a server. */
const proxyError =
  /proxy|socket hang up|other side closed|\bECONN(?:REFUSED|RESET|ABORTED)\b|\bEPIPE\b|connection (?:refused|reset)/i;
/** How much of a dead server's last output is read, in milliseconds before its last line. */
const LAST_OUTPUT_MS = 60_000;
/** Node's last line when an uncaught exception ends a process. */
const endOfNode = /(?:^|[\s:|\]])Node\.js v\d{1,3}\.\d{1,3}\.\d{1,3}\S*$/;
/** How long before its end a process prints the exception, and how long after its end other programs notice. */
const CRASH_MS = { before: 1_000, after: 300 };
const deadServer = /ERR_CONNECTION_(?:REFUSED|RESET)|ECONNREFUSED|ECONNRESET|socket hang up/;

/** When a request began, and how long it took, in milliseconds. */
type RequestSpan = Pick<NetworkEntry, 'time' | 'durationMs'>;

/** Reads the logs of a suite run's servers. All of its failures share one read, because there may be 50 logs of 8 MB. */
type ReadLogs = () => Promise<readonly Log[]>;

/** Returns a function that reads a suite run's server logs; `logPath` is the log of its web servers. */
export function createLogReader(logPath: string): ReadLogs {
  let logs: Promise<readonly Log[]> | undefined;
  return () => (logs ??= readLogs(logPath));
}

/** The server logs of a run, and the requests and errors of one of its tests. */
interface TestServers {
  readonly logs: ReadLogs;
  /** The text of the test's errors and of its requests' failures. */
  readonly errorText: string;
  /** The test's requests to the app. */
  readonly appRequests: readonly RequestSpan[];
  readonly failedRequests: readonly NetworkEntry[];
  /** True for output about failed requests that the test does not name. */
  readonly isAboutOthers: (text: string) => boolean;
  /** The requests of passing tests in the same file. */
  readonly passingRequests: readonly RequestSpan[];
  /** True if no other test ran at the same time. */
  readonly ranAlone: boolean;
  /** Playwright's index of the worker that ran the test; null if unknown. */
  readonly worker: number | null;
}

/** The server output that most likely explains a failure; its lines that may be about other tests (`ofOthers`); and all lines with times. */
export interface TestServerOutput {
  readonly text: string;
  readonly ofOthers: readonly string[];
  readonly lines: readonly ServerLine[];
}

/**
 * Returns the web servers' output about a test. Because tests share the servers, chooses the output close in time to the test's failed requests, or
 * else close to its other requests if it has errors that passing tests do not have. For a dead server, chooses the output around the exception that
 * ended it, or its last output before the test. Rejects if the log cannot be read.
 */
export async function readTestServerOutput(
  {
    logs: readLogs,
    errorText,
    appRequests,
    failedRequests,
    isAboutOthers,
    passingRequests,
    ranAlone,
    worker,
  }: TestServers,
  failure: TestFailure,
  notes: EvidenceNotes,
): Promise<TestServerOutput> {
  const { logs, others } = splitLogs(await readLogs(), String(worker));
  // If a server has not answered by the end of the test, later output belongs to the next test.
  const isUnanswered =
    failedRequests.length > 0 && failedRequests.every((request) => request.failure === unanswered);
  const end = failure.startedAt + failure.durationMs;
  const duringTest = { from: failure.startedAt, to: end + (isUnanswered ? 0 : AFTER_TEST_MS) };
  const nearby =
    failedRequests.length === 0
      ? []
      : NEARNESS_MS.map((ms) =>
          readOutput(logs, mergeWindows(failedRequests.map((request) => windowAroundResponse(request, ms)))),
        );
  const isAppError = (block: string) => !isAboutOthers(block) && reportsError(block, proxyError);
  const nearAppError = nearby.find(({ text }) => splitLogBlocks(text).some(isAppError));
  const nearAnyError = nearby.find(({ text }) => reportsError(text));
  const isDead = deadServer.test(`${errorText}\n${nearAnyError?.text ?? ''}`);
  const crash = isDead ? findCrash(logs, duringTest.to) : null;
  const bestMatch = nearAppError ?? (crash && readOutput(logs, [crash])) ?? nearAnyError;
  const passingWindows = passingRequests.map((request) => windowAroundRequest(request, NEAR_PASSING_MS));
  const appWindows = appRequests.map((request) => windowAroundRequest(request, 0));
  const commonLines = new Set(
    notes
      .clean(readOutput(logs, mergeWindows(dropOverlappingWindows(passingWindows, appWindows))).text)
      .split('\n')
      .map(normalize),
  );
  const buildResult = (
    part: LogPart,
    isAboutTest: boolean,
    earlier: TimeWindow | null = crash,
  ): TestServerOutput => {
    const text = boundOutput(part, notes);
    const lines = [...new Set(text.split('\n'))].filter((line) => line.trim() !== '');
    const outputOfOthers = boundOutput(readOutput(others, [duringTest]), notes);
    return {
      text,
      ofOthers: [
        ...outputOfOthers.split('\n').filter(Boolean),
        ...(isAboutTest ? lines.filter((line) => commonLines.has(normalize(line))) : lines),
      ],
      lines: readTimedLines(
        [...logs, ...others],
        mergeWindows(earlier === null ? [duringTest] : [earlier, duringTest]),
        notes,
      ),
    };
  };
  if (bestMatch) return buildResult(bestMatch, true);
  const hasNewError = ({ text }: LogPart) =>
    text.split('\n').some((line) => reportsError(line) && !commonLines.has(normalize(line)));
  const nearErrors = NEARNESS_MS.map((ms) =>
    readOutput(logs, mergeWindows(appRequests.map((request) => windowAroundRequest(request, ms)))),
  ).find(hasNewError);
  if (nearErrors) return buildResult(nearErrors, true);
  const part = readOutput(logs, [duringTest]);
  const configLog = logs[0] ?? Buffer.alloc(0);
  const lastOutput =
    part.text === '' && deadServer.test(errorText) ? findLastOutput(configLog, duringTest.to) : null;
  return buildResult(lastOutput === null ? part : readLogWindow(configLog, lastOutput), ranAlone, lastOutput);
}

/** Drops the windows that overlap one of `others`, because their output may be about those. */
function dropOverlappingWindows(windows: readonly TimeWindow[], others: readonly TimeWindow[]): TimeWindow[] {
  return windows.filter(({ from, to }) => !others.some((other) => other.from <= to && from <= other.to));
}

/** True if a line of the text reports an error, and does not match `except`. */
export function reportsError(text: string, except?: RegExp): boolean {
  const isError = (line: string) => errorWord.test(line) && !warningWord.test(line) && !frame.test(line);
  return text.split('\n').some((line) => isError(line) && !except?.test(line));
}

/**
 * Returns a window around the response to a request, not before the request's start. Without a response, the window begins earlier, because a
 * dying process prints its error before the connection ends.
 */
function windowAroundResponse({ time, durationMs }: RequestSpan, ms: number): TimeWindow {
  const answered = time + (durationMs ?? 0);
  const started = time - (durationMs === null ? ms : REPORTED_LATE_MS);
  return { from: Math.max(started, answered - ms), to: answered + ms };
}

/** Returns the time from a request's start to `ms` after its end. */
function windowAroundRequest({ time, durationMs }: RequestSpan, ms: number): TimeWindow {
  return { from: time - REPORTED_LATE_MS, to: time + (durationMs ?? 0) + ms };
}

/** Returns the windows in order, with overlapping ones merged. */
function mergeWindows(all: readonly TimeWindow[]): TimeWindow[] {
  const windows: { from: number; to: number }[] = [];
  for (const window of all.toSorted((a, b) => a.from - b.from)) {
    const last = windows.at(-1);
    if (last && window.from <= last.to) last.to = Math.max(last.to, window.to);
    else windows.push({ ...window });
  }
  return windows;
}

/** The output of servers, and the index of the worker that started them; undefined for servers in the config or the global setup. */
interface Log {
  readonly worker: string | undefined;
  readonly bytes: Buffer;
}

/**
 * Reads the log of the web servers, and one log for each test process that started servers. A log has at most 8 MB
 * (`playwright/inject/server-log.ts`). Rejects if the first log cannot be read.
 */
async function readLogs(logPath: string): Promise<Log[]> {
  const folder = path.join(path.dirname(logPath), runFiles.servers);
  const names = await readdir(folder).catch(() => []);
  const started = names.slice(0, MAX_LOGS).map(async (name) => ({
    worker: name.split('-').at(-2),
    bytes: await readFile(path.join(folder, name)).catch(() => Buffer.alloc(0)),
  }));
  return [{ worker: undefined, bytes: await readFile(logPath) }, ...(await Promise.all(started))];
}

/** Separates the logs of other workers' servers if the test's own worker has started servers, because the test uses its own. */
function splitLogs(all: readonly Log[], own: string): Record<'logs' | 'others', Buffer[]> {
  const hasOwnServers = all.some(({ worker }) => worker === own);
  const isOther = ({ worker }: Log) => hasOwnServers && worker !== undefined && worker !== own;
  const [logs, others] = [all.filter((log) => !isOther(log)), all.filter(isOther)];
  return { logs: logs.map(({ bytes }) => bytes), others: others.map(({ bytes }) => bytes) };
}

function readOutput(logs: readonly Buffer[], windows: readonly TimeWindow[]): LogPart {
  const parts = logs.flatMap((log) => windows.map((window) => readLogWindow(log, window)));
  const texts = parts.map(({ text }) => text).filter((text) => text !== '');
  return { text: texts.join('\n'), cutBytes: parts.reduce((sum, { cutBytes }) => sum + cutBytes, 0) };
}

/** Returns what the servers wrote during a whole suite run, or the end of it. Rejects if the log cannot be read. */
export async function readAllServerOutput(logPath: string): Promise<string> {
  const logs = (await readLogs(logPath)).map(({ bytes }) => bytes);
  return readOutput(logs, [{ from: 0, to: Number.MAX_SAFE_INTEGER }]).text;
}

/**
 * Returns the output that may explain a failure of the suite itself: Playwright's standard error and both ends of the servers' output, where
 * builds print their errors. Rejects if the log cannot be read.
 */
export async function readSuiteServerOutput(
  logPath: string,
  failure: SuiteFailure,
  notes: EvidenceNotes,
): Promise<string> {
  const log = readLogEnds(await readFile(logPath));
  const stderr = log.text === '' ? failure.stderr : dropServerLines(failure.stderr);
  const half = bounds.serverOutput / 2;
  const server = clipMiddle(log.text, Math.max(half, bounds.serverOutput - Buffer.byteLength(stderr) - 64));
  const playwright = clipMiddle(stderr, bounds.serverOutput - Buffer.byteLength(server.text) - 64);
  const text = [server.text, playwright.text].filter((part) => part.trim() !== '').join('\n');
  const { phase, errors } = failure;
  if (server.text.trim() === '' && phase?.kind === 'web-server')
    notes.noteMissing(describeSilentServers(phase.servers, errors[0]?.message ?? ''));
  return boundOutput({ text, cutBytes: log.cutBytes + server.cutBytes + playwright.cutBytes }, notes);
}

function describeSilentServers(servers: readonly WebServer[], message: string): string {
  const waited = /Timed out waiting (\d+) ?ms/.exec(message)?.[1];
  const when = waited === undefined ? '' : ` in the ${Number(waited) / 1000} s that Playwright waited for it`;
  return `no output from the web server: ${servers.map(formatServer).join('; ')} wrote nothing${when}`;
}

/** Returns a window around the last exception that ended a Node server; null if there is none. */
function findCrash(logs: readonly Buffer[], before: number): TimeWindow | null {
  const times = logs.flatMap((log) => findLastTime(log, endOfNode, before) ?? []);
  const at = Math.max(...times);
  return times.length === 0 ? null : { from: at - CRASH_MS.before, to: at + CRASH_MS.after };
}

function findLastOutput(log: Buffer, before: number): TimeWindow | null {
  const last = readLastTime(log);
  return last === null || last > before ? null : { from: last - LAST_OUTPUT_MS, to: last };
}

/** Returns all lines of these windows, masked and bounded as one text. A line changed by masking gets the time of the line before it. */
function readTimedLines(
  logs: readonly Buffer[],
  windows: readonly TimeWindow[],
  notes: EvidenceNotes,
): ServerLine[] {
  const lines = logs
    .flatMap((log) => windows.flatMap((window) => readLogLines(log, window)))
    .toSorted((a, b) => a.time - b.time);
  let [at, time] = [0, lines[0]?.time ?? 0];
  return cleanAndClip(lines.map(({ text }) => text).join('\n'), 'serverOutput', notes)
    .split('\n')
    .flatMap((text) => {
      const index = lines.findIndex((line, n) => n >= at && line.text === text);
      if (index >= 0) [at, time] = [index + 1, lines[index]?.time ?? time];
      return text.trim() === '' ? [] : [{ time, text }];
    });
}

function boundOutput(part: LogPart, notes: EvidenceNotes): string {
  if (part.cutBytes > 0) notes.noteCut(`${part.cutBytes} bytes of the server output were left out`);
  return cleanAndClip(part.text, 'serverOutput', notes);
}

/** Drops server lines that Playwright's reporters repeat, because the log already has them. */
function dropServerLines(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !line.includes('[WebServer] '))
    .join('\n');
}
