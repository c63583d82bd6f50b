import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type NetworkEntry, type ServerLine, unanswered } from '../model/evidence.js';
import { serverLine, type SuiteFailure, type TestFailure, type WebServer } from '../model/failure.js';
import { logBlocks } from '../diagnose/named-requests.js';
import { normalise } from '../diagnose/normalise.js';
import { runFiles } from '../playwright/report-format.js';
import { boundedText, clipMiddle, type EvidenceNotes, bounds } from './bounded-text.js';
import {
  lastLogTime,
  lastTimeOf,
  logEnds,
  logLines,
  logWindow,
  type LogPart,
  type Window,
} from './server-log.js';

/** Servers log a failed request slightly after they have answered it. */
export const afterTheTestMs = 2_000;
/** Servers log an error at about the time they answer. The closer the log line, the more certain it is about that request. */
const nearnessMs = [20, 80, 300];
/** The same for requests of passing tests. Later output may be about the next test. */
const nearPassingMs = 80;
/** The browser reports that a request has started slightly late: a server may have failed by then. */
const reportedLateMs = 20;
const error = /(?:Error|Exception)\b|\b(?:error|fatal|panic(?:ked)?|traceback|unhandled)\b/i;
const warning = /\bwarn(?:ing)?\b/i;
/** A line of a stack, as most languages print it: it belongs to the error above. */
const frame = /^\s+(?:at |\d{1,5}: )/;
/** The maximum number of logs to read; each belongs to a worker that started servers. */
const mostLogs = 50;
/** What a proxy prints about its connection to a server that failed. */
const ofProxy =
  /proxy|socket hang up|other side closed|\bECONN(?:REFUSED|RESET|ABORTED)\b|\bEPIPE\b|connection (?:refused|reset)/i;
/** How much of a dead server's last output is read. */
const lastOutputMs = 60_000;
/** What Node prints last when an exception ends a process. */
const endOfNode = /(?:^|[\s:|\]])Node\.js v\d{1,3}\.\d{1,3}\.\d{1,3}\S*$/;
/** How long before its end a process prints the exception, and how long after it others notice. */
const crashMs = { before: 1_000, after: 300 };
const deadServer = /ERR_CONNECTION_(?:REFUSED|RESET)|ECONNREFUSED|ECONNRESET|socket hang up/;

/** When requests were under way, in milliseconds. */
type RequestSpan = Pick<NetworkEntry, 'time' | 'durationMs'>;

/** Reads the logs of a suite run's servers, once for all of its failures: there may be 50 logs of 8 MB. */
type ReadLogs = () => Promise<readonly Log[]>;

/** Returns what reads the logs of the servers of a suite run, by the path of the log of its web servers. */
export function serverLogs(logPath: string): ReadLogs {
  let logs: Promise<readonly Log[]> | undefined;
  return () => (logs ??= readLogs(logPath));
}

/** A test's server log, and how the test experienced the servers. */
interface TestServers {
  readonly logs: ReadLogs;
  /** The text of the test's errors and of its requests' failures. */
  readonly complaints: string;
  /** The test's requests to the app. */
  readonly asked: readonly RequestSpan[];
  /** The requests among them that failed. */
  readonly failed: readonly NetworkEntry[];
  /** Whether a part of the output is about other failed requests than those that the test names. */
  readonly isOfOthers: (text: string) => boolean;
  /** The requests of passing tests of the file. */
  readonly ofPassing: readonly RequestSpan[];
  /** Whether no other test ran at the same time. */
  readonly isAlone: boolean;
  /** Playwright's index of the worker that ran the test; null if it is not known. */
  readonly worker: number | null;
}

/** The most telling output of the servers, those of its lines that may not be about the failure, and all lines with their time. */
export interface TestServerOutput {
  readonly text: string;
  readonly ofOthers: readonly string[];
  readonly lines: readonly ServerLine[];
}

/**
 * Returns the web servers' output about a test. Tests share one server, so only the output close to the answers of the test's failed requests
 * is taken, or else the output close to its other requests if it has an error that passing tests do not show. If a server was dead, returns
 * its output when an exception ended it, or its last output if it had been silent since before the test. Rejects if the log cannot be read.
 */
export async function testServerOutput(
  { logs: read, complaints, asked, failed, isOfOthers, ofPassing, isAlone, worker }: TestServers,
  failure: TestFailure,
  missing: EvidenceNotes,
): Promise<TestServerOutput> {
  const { logs, others } = ownLogs(await read(), String(worker));
  // A server that has not answered by the end of a test logs nothing about it later. Later output is about the next test.
  const isOver = failed.length > 0 && failed.every((request) => request.failure === unanswered);
  const end = failure.startedAt + failure.durationMs;
  const duringTest = { from: failure.startedAt, to: end + (isOver ? 0 : afterTheTestMs) };
  const nearby =
    failed.length === 0
      ? []
      : nearnessMs.map((ms) =>
          outputIn(logs, mergedWindows(failed.map((request) => aroundAnswer(request, ms)))),
        );
  const isOwn = (block: string) => !isOfOthers(block) && saysError(block, ofProxy);
  const ofApp = nearby.find(({ text }) => logBlocks(text).some(isOwn));
  const refused = nearby.find(({ text }) => saysError(text));
  const isDead = deadServer.test(`${complaints}\n${refused?.text ?? ''}`);
  const crash = isDead ? crashBefore(logs, duringTest.to) : null;
  const near = ofApp ?? (crash && outputIn(logs, [crash])) ?? refused;
  const passing = ofPassing.map((request) => underWay(request, nearPassingMs));
  const own = asked.map((request) => underWay(request, 0));
  const common = new Set(
    missing
      .clean(outputIn(logs, mergedWindows(apartFrom(passing, own))).text)
      .split('\n')
      .map(normalise),
  );
  const resultOf = (part: LogPart, isKnown: boolean, earlier: Window | null = crash): TestServerOutput => {
    const text = outputOf(part, missing);
    const lines = [...new Set(text.split('\n'))].filter((line) => line.trim() !== '');
    const theirs = outputOf(outputIn(others, [duringTest]), missing);
    return {
      text,
      ofOthers: [
        ...theirs.split('\n').filter(Boolean),
        ...(isKnown ? lines.filter((line) => common.has(normalise(line))) : lines),
      ],
      lines: timedLines(
        [...logs, ...others],
        mergedWindows(earlier === null ? [duringTest] : [earlier, duringTest]),
        missing,
      ),
    };
  };
  if (near) return resultOf(near, true);
  const isTelling = ({ text }: LogPart) =>
    text.split('\n').some((line) => saysError(line) && !common.has(normalise(line)));
  const around = nearnessMs
    .map((ms) => outputIn(logs, mergedWindows(asked.map((request) => underWay(request, ms)))))
    .find(isTelling);
  if (around) return resultOf(around, true);
  const part = outputIn(logs, [duringTest]);
  const ofConfig = logs[0] ?? Buffer.alloc(0);
  const last = part.text === '' && deadServer.test(complaints) ? lastOutput(ofConfig, duringTest.to) : null;
  return resultOf(last === null ? part : logWindow(ofConfig, last), isAlone, last);
}

/** Drops the windows that overlap others, whose output may be about those. */
function apartFrom(windows: readonly Window[], others: readonly Window[]): Window[] {
  return windows.filter(({ from, to }) => !others.some((other) => other.from <= to && from <= other.to));
}

/** Whether a line of a log reports an error. */
export function saysError(text: string, except?: RegExp): boolean {
  const isError = (line: string) => error.test(line) && !warning.test(line) && !frame.test(line);
  return text.split('\n').some((line) => isError(line) && !except?.test(line));
}

/**
 * Returns a window around the answer to a request, not before the request's start. Without an answer, the window begins earlier, since a
 * process that dies prints its error before the connection ends.
 */
function aroundAnswer({ time, durationMs }: RequestSpan, ms: number): Window {
  const answered = time + (durationMs ?? 0);
  const started = time - (durationMs === null ? ms : reportedLateMs);
  return { from: Math.max(started, answered - ms), to: answered + ms };
}

/** Returns the time during which a request was under way, and a little more. */
function underWay({ time, durationMs }: RequestSpan, ms: number): Window {
  return { from: time - reportedLateMs, to: time + (durationMs ?? 0) + ms };
}

/** Returns the windows in order, with overlapping ones merged. */
function mergedWindows(all: readonly Window[]): Window[] {
  const windows: { from: number; to: number }[] = [];
  for (const window of all.toSorted((a, b) => a.from - b.from)) {
    const last = windows.at(-1);
    if (last && window.from <= last.to) last.to = Math.max(last.to, window.to);
    else windows.push({ ...window });
  }
  return windows;
}

/** The output of servers, and the index of the worker that started them; undefined for those of the config and of the set-up. */
interface Log {
  readonly worker: string | undefined;
  readonly bytes: Buffer;
}

/**
 * Reads the log of the web servers, and the logs of servers that the suite's own code started, one for each process that started some. A log
 * has at most 8 MB (`playwright/inject/server-log.ts`). Rejects if the first log cannot be read.
 */
async function readLogs(logPath: string): Promise<Log[]> {
  const folder = path.join(path.dirname(logPath), runFiles.servers);
  const names = await readdir(folder).catch(() => []);
  const started = names.slice(0, mostLogs).map(async (name) => ({
    worker: name.split('-').at(-2),
    bytes: await readFile(path.join(folder, name)).catch(() => Buffer.alloc(0)),
  }));
  return [{ worker: undefined, bytes: await readFile(logPath) }, ...(await Promise.all(started))];
}

/** Separates the logs of other workers' servers, if the test's own worker has started servers, since the test uses those. */
function ownLogs(all: readonly Log[], own: string): Record<'logs' | 'others', Buffer[]> {
  const knows = all.some(({ worker }) => worker === own);
  const isOther = ({ worker }: Log) => knows && worker !== undefined && worker !== own;
  const [logs, others] = [all.filter((log) => !isOther(log)), all.filter(isOther)];
  return { logs: logs.map(({ bytes }) => bytes), others: others.map(({ bytes }) => bytes) };
}

function outputIn(logs: readonly Buffer[], windows: readonly Window[]): LogPart {
  const parts = logs.flatMap((log) => windows.map((window) => logWindow(log, window)));
  const texts = parts.map(({ text }) => text).filter((text) => text !== '');
  return { text: texts.join('\n'), cutBytes: parts.reduce((sum, { cutBytes }) => sum + cutBytes, 0) };
}

/** Returns what the servers wrote during a whole suite run, or the end of it. Rejects if the log cannot be read. */
export async function serverOutput(logPath: string): Promise<string> {
  const logs = (await readLogs(logPath)).map(({ bytes }) => bytes);
  return outputIn(logs, [{ from: 0, to: Number.MAX_SAFE_INTEGER }]).text;
}

/**
 * Returns what explains a failure of the suite itself: Playwright's standard error and both ends of the servers' output,
 * where a build reports what is wrong. Rejects if the log cannot be read.
 */
export async function suiteServerOutput(
  logPath: string,
  failure: SuiteFailure,
  missing: EvidenceNotes,
): Promise<string> {
  const log = logEnds(await readFile(logPath));
  const stderr = log.text === '' ? failure.stderr : withoutServerLines(failure.stderr);
  const half = bounds.serverOutput / 2;
  const server = clipMiddle(log.text, Math.max(half, bounds.serverOutput - Buffer.byteLength(stderr) - 64));
  const playwright = clipMiddle(stderr, bounds.serverOutput - Buffer.byteLength(server.text) - 64);
  const text = [server.text, playwright.text].filter((part) => part.trim() !== '').join('\n');
  const { phase, errors } = failure;
  if (server.text.trim() === '' && phase?.kind === 'web-server')
    missing.miss(silent(phase.servers, errors[0]?.message ?? ''));
  return outputOf({ text, cutBytes: log.cutBytes + server.cutBytes + playwright.cutBytes }, missing);
}

function silent(servers: readonly WebServer[], message: string): string {
  const waited = /Timed out waiting (\d+) ?ms/.exec(message)?.[1];
  const when = waited === undefined ? '' : ` in the ${Number(waited) / 1000} s that Playwright waited for it`;
  return `no output of the web server: ${servers.map(serverLine).join('; ')} wrote nothing${when}`;
}

/** Returns the time of the last exception that ended a Node server, with some room; null if there is none. */
function crashBefore(logs: readonly Buffer[], before: number): Window | null {
  const times = logs.flatMap((log) => lastTimeOf(log, endOfNode, before) ?? []);
  const at = Math.max(...times);
  return times.length === 0 ? null : { from: at - crashMs.before, to: at + crashMs.after };
}

function lastOutput(log: Buffer, before: number): Window | null {
  const last = lastLogTime(log);
  return last === null || last > before ? null : { from: last - lastOutputMs, to: last };
}

/** Returns all lines of these windows, masked and bounded as one text. A line that masking has changed gets the time of the line before it. */
function timedLines(
  logs: readonly Buffer[],
  windows: readonly Window[],
  missing: EvidenceNotes,
): ServerLine[] {
  const lines = logs
    .flatMap((log) => windows.flatMap((window) => logLines(log, window)))
    .toSorted((a, b) => a.time - b.time);
  let [at, time] = [0, lines[0]?.time ?? 0];
  return boundedText(lines.map(({ text }) => text).join('\n'), 'serverOutput', missing)
    .split('\n')
    .flatMap((text) => {
      const index = lines.findIndex((line, n) => n >= at && line.text === text);
      if (index >= 0) [at, time] = [index + 1, lines[index]?.time ?? time];
      return text.trim() === '' ? [] : [{ time, text }];
    });
}

function outputOf(part: LogPart, missing: EvidenceNotes): string {
  if (part.cutBytes > 0) missing.cut(`${part.cutBytes} bytes of the server output were left out`);
  return boundedText(part.text, 'serverOutput', missing);
}

/** Drops the server lines that Playwright's own reporters repeat; the log already has them. */
function withoutServerLines(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !line.includes('[WebServer] '))
    .join('\n');
}
