import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { NetworkEntry } from '../core/evidence.js';
import type { SuiteFailure, TestFailure } from '../core/failure.js';
import { runFiles } from '../playwright/report-format.js';
import { boundedText } from './bounded-text.js';
import { bounds } from './bounds.js';
import { clipMiddle } from './clip.js';
import { lastLogTime, readLogEnds, readLogWindow, type LogPart, type Window } from './server-log.js';
import type { MissingEvidence } from './missing-evidence.js';

/** Servers write their own report of a failing request a little after the answer. */
const afterTheTestMs = 2_000;
/** Servers report an error about when they answer with it; the closer a report is to the answer, the surer it is that request's. */
const nearnessMs = [20, 80, 300];
const saysError = /(?:Error|Exception)\b|\b(?:error|fatal|panic|traceback|unhandled)\b/i;
/** Workers that started servers; more are not looked at. */
const mostLogs = 50;
/** How far back a dead server's last output is looked for. */
const lastOutputMs = 60_000;
const deadServer = /ERR_CONNECTION_(?:REFUSED|RESET)|ECONNREFUSED|ECONNRESET|socket hang up/;

/** Where a test's servers write, and what the test met of them. */
interface TestServers {
  /** The log of the suite's web servers. */
  readonly path: string;
  /** What the test's errors and requests say. */
  readonly complaints: string;
  /** The test's requests to the app that failed. */
  readonly failed: readonly NetworkEntry[];
}

/**
 * What the web servers wrote while a test ran. Tests run side by side on one server: of a test with failed requests it is what was
 * written closest to their answers, unless the error that has to be there is not. Where the test met a dead server, silent since before the
 * test, its last output is taken instead. Rejects where the log is unreadable.
 */
export async function testServerOutput(
  { path: file, complaints, failed }: TestServers,
  failure: TestFailure,
  missing: MissingEvidence,
): Promise<string> {
  const whole = { from: failure.startedAt, to: failure.startedAt + failure.durationMs + afterTheTestMs };
  for (const ms of failed.length > 0 ? nearnessMs : []) {
    const near = await written(file, windowsOf(failed, ms));
    if (saysError.test(near.text)) return outputOf(near, missing);
  }
  const part = await written(file, [whole]);
  const isSilent = part.text === '' && deadServer.test(complaints);
  return outputOf(isSilent ? await lastOutput(file, whole.to) : part, missing);
}

/** Around the answer to each request, from its start at the earliest; what overlaps is one. */
function windowsOf(requests: readonly NetworkEntry[], ms: number): Window[] {
  const around = requests.map(({ time, durationMs }) => {
    const answered = time + (durationMs ?? 0);
    return { from: Math.max(time, answered - ms), to: answered + ms };
  });
  const windows: { from: number; to: number }[] = [];
  for (const window of around.toSorted((a, b) => a.from - b.from)) {
    const last = windows.at(-1);
    if (last && window.from <= last.to) last.to = Math.max(last.to, window.to);
    else windows.push(window);
  }
  return windows;
}

/** What the web servers wrote, and those that the suite's own code started, of which each process that started some has a log. */
async function written(logPath: string, windows: readonly Window[]): Promise<LogPart> {
  const folder = path.join(path.dirname(logPath), runFiles.servers);
  const names = await readdir(folder).catch(() => []);
  const own = names.slice(0, mostLogs).map((name) => readWindows(path.join(folder, name), windows));
  const parts = [await readWindows(logPath, windows)];
  for (const one of await Promise.allSettled(own)) if (one.status === 'fulfilled') parts.push(one.value);
  return joined(parts);
}

async function readWindows(file: string, windows: readonly Window[]): Promise<LogPart> {
  const parts: LogPart[] = [];
  for (const window of windows) parts.push(await readLogWindow(file, window));
  return joined(parts);
}

function joined(parts: readonly LogPart[]): LogPart {
  const texts = parts.map(({ text }) => text).filter((text) => text !== '');
  return { text: texts.join('\n'), cutBytes: parts.reduce((sum, { cutBytes }) => sum + cutBytes, 0) };
}

/**
 * What explains the suite's own failure: Playwright's standard error and both ends of the servers' output, which is
 * where a build says what is wrong. Rejects where the log is unreadable.
 */
export async function suiteServerOutput(
  logPath: string,
  failure: SuiteFailure,
  missing: MissingEvidence,
): Promise<string> {
  const log = await readLogEnds(logPath);
  const stderr = log.text === '' ? failure.stderr : withoutServerLines(failure.stderr);
  const half = bounds.serverOutput / 2;
  const server = clipMiddle(log.text, Math.max(half, bounds.serverOutput - Buffer.byteLength(stderr) - 64));
  const playwright = clipMiddle(stderr, bounds.serverOutput - Buffer.byteLength(server.text) - 64);
  const text = [server.text, playwright.text].filter((part) => part.trim() !== '').join('\n');
  return outputOf({ text, cutBytes: log.cutBytes + server.cutBytes + playwright.cutBytes }, missing);
}

async function lastOutput(file: string, before: number): Promise<LogPart> {
  const last = await lastLogTime(file);
  if (last === null || last > before) return { text: '', cutBytes: 0 };
  return readLogWindow(file, { from: last - lastOutputMs, to: last });
}

function outputOf(part: LogPart, missing: MissingEvidence): string {
  if (part.cutBytes > 0) missing.cut(`${part.cutBytes} bytes of the server output were left out`);
  return boundedText(part.text, 'serverOutput', missing);
}

/** The servers' lines that Playwright's own reporters repeat; the log has them already. */
function withoutServerLines(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !line.includes('[WebServer] '))
    .join('\n');
}
