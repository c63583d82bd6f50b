import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { SuiteFailure, TestFailure } from '../core/failure.js';
import { runFiles } from '../playwright/report-format.js';
import { boundedText } from './bounded-text.js';
import { bounds } from './bounds.js';
import { clipMiddle } from './clip.js';
import { lastLogTime, readLogEnds, readLogWindow, type LogPart, type Window } from './server-log.js';
import type { MissingEvidence } from './missing-evidence.js';

/** Servers write their own report of a failing request a little after the answer. */
const afterTheTestMs = 2_000;
/** Workers that started servers; more are not looked at. */
const mostLogs = 50;
/** How far back a dead server's last words are looked for. */
const lastWordsMs = 60_000;
const deadServer = /ERR_CONNECTION_(?:REFUSED|RESET)|ECONNREFUSED|ECONNRESET|socket hang up/;

/**
 * What the web servers wrote while a test ran. Where the test met a dead server, silent since before the test, its last
 * words are taken instead. `complaints` is what the test's errors and requests say. Rejects where the log is unreadable.
 */
export async function testServerOutput(
  log: { readonly path: string; readonly complaints: string },
  failure: TestFailure,
  missing: MissingEvidence,
): Promise<string> {
  const to = failure.startedAt + failure.durationMs + afterTheTestMs;
  let part = await readLogWindow(log.path, { from: failure.startedAt, to });
  if (part.text === '' && deadServer.test(log.complaints)) part = await lastWords(log.path, to);
  const own = await suiteServers(log.path, { from: failure.startedAt, to });
  return outputOf(joined([part, ...own]), missing);
}

/** What the servers wrote that the suite's own code started; each process that started some has a log of its own. */
async function suiteServers(logPath: string, window: Window): Promise<LogPart[]> {
  const folder = path.join(path.dirname(logPath), runFiles.servers);
  const names = await readdir(folder).catch(() => []);
  const logs = names.slice(0, mostLogs).map((name) => readLogWindow(path.join(folder, name), window));
  return (await Promise.allSettled(logs)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
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

async function lastWords(file: string, before: number): Promise<LogPart> {
  const last = await lastLogTime(file);
  if (last === null || last > before) return { text: '', cutBytes: 0 };
  return readLogWindow(file, { from: last - lastWordsMs, to: last });
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
