import { parseJson } from '../parse-json.js';
import type { ServerLine } from '../model/evidence.js';
import { bounds, clipMiddle } from './bounded-text.js';
import { inspect } from 'node:util';

/** A time window, inclusive at both ends, in milliseconds since the epoch. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** Part of a server log, without timestamps. */
export interface LogPart {
  readonly text: string;
  /** How many bytes of the requested part were left out. */
  readonly cutBytes: number;
}

/** The maximum size of the returned part, before its timestamps are removed. */
const MAX_BYTES = bounds.serverOutput * 4;
/** How many bytes at the end are searched for the last timestamp. */
const PROBE_BYTES = 64 * 1024;
const timestamp = /^(\d{12,14}) /;
const lineFeed = 0x0a;

/** Returns the lines of a time window, or the end of a long one. Log lines are `<epoch ms> <text>`, in chronological order. */
export function readLogWindow(log: Buffer, window: TimeWindow): LogPart {
  const { bytes, cutBytes } = findWindow(log, window);
  return { text: removeTimestamps(bytes), cutBytes };
}

function findWindow(log: Buffer, window: TimeWindow): { readonly bytes: Buffer; readonly cutBytes: number } {
  const from = findOffset(log, window.from);
  const to = findOffset(log, window.to + 1);
  const start = Math.max(from, to - MAX_BYTES);
  return { bytes: log.subarray(start > from ? findNextLine(log, start) : start, to), cutBytes: start - from };
}

/** Returns the lines of a window, or the end of a long one, with their times. */
export function readLogLines(log: Buffer, window: TimeWindow): ServerLine[] {
  const lines = findWindow(log, window).bytes.toString('utf8').split('\n');
  let time = window.from;
  return lines.flatMap((line) => {
    time = Number(timestamp.exec(line)?.[1] ?? time);
    const formatted = formatJsonEntry(line.replace(timestamp, '')).split('\n');
    return formatted.flatMap((text) => (text.trim() === '' || emptyField.test(text) ? [] : [{ time, text }]));
  });
}

/** Returns both ends of a log: a build prints its first error near the beginning, and why it stopped at the end. */
export function readLogEnds(log: Buffer): LogPart {
  if (log.length <= MAX_BYTES) return { text: removeTimestamps(log), cutBytes: 0 };
  const head = log.subarray(0, MAX_BYTES / 2);
  const tail = log.subarray(findNextLine(log, log.length - MAX_BYTES / 2));
  const text = `${removeTimestamps(head)}\n${removeTimestamps(tail)}`;
  return { text: clipMiddle(text, bounds.serverOutput).text, cutBytes: log.length - MAX_BYTES };
}

/** Returns the timestamp of the last line of a log, or null if it has none. */
export function readLastTime(log: Buffer): number | null {
  const lines = log.subarray(-PROBE_BYTES).toString('utf8').split('\n');
  const lastLine = lines.findLast((line) => timestamp.test(line));
  return lastLine === undefined ? null : Number.parseInt(lastLine, 10);
}

/** Returns the timestamp of the last matching line before a time; null if there is none. */
export function findLastTime(log: Buffer, line: RegExp, before: number): number | null {
  const lines = log.toString('utf8', 0, findOffset(log, before + 1)).split('\n');
  const last = lines.findLast((stamped) => line.test(stamped) && timestamp.test(stamped));
  return last === undefined ? null : Number.parseInt(last, 10);
}

/** Returns the offset of the first line whose timestamp is `time` or later, by bisection. */
function findOffset(log: Buffer, time: number): number {
  let [low, high] = [0, log.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const line = findTimestampedLine(log, middle);
    if (line === null || line.time >= time) high = middle;
    else low = line.start + 1;
  }
  return findTimestampedLine(log, low)?.start ?? log.length;
}

/** Returns the first line with a timestamp that begins at or after `from`. */
function findTimestampedLine(log: Buffer, from: number): { time: number; start: number } | null {
  for (
    let start = from === 0 ? 0 : findNextLine(log, from - 1);
    start < log.length;
    start = findNextLine(log, start)
  ) {
    const time = timestamp.exec(log.toString('latin1', start, start + 16))?.[1];
    if (time !== undefined) return { time: Number(time), start };
  }
  return null;
}

function findNextLine(log: Buffer, at: number): number {
  const feed = log.indexOf(lineFeed, at);
  return feed < 0 ? log.length : feed + 1;
}

function removeTimestamps(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .split('\n')
    .map((line) => formatJsonEntry(line.replace(timestamp, '')))
    .filter((line) => !emptyField.test(line))
    .join('\n')
    .trimEnd();
}

/** Database drivers print even the empty fields of an error. */
const emptyField = /^\s+\w+: undefined,?$/;

type Fields = Readonly<Record<string, unknown>>;

/** A JSON log line, perhaps after the prefix of a program that runs several servers. */
const jsonEntry = /^(?<before>[^{]{0,40})(?<json>\{.*\})\s*$/;
/** The fields in which loggers put an error: pino and bunyan, winston, Elastic Common Schema. */
const errorFields = ['err', 'error', 'exception'];
/** Fields of the logger itself, which are not shown. */
const loggerFields = new Set(
  'level severity time timestamp ts pid hostname name v msg message stack'.split(' '),
);
/** The numeric levels of pino and bunyan. */
const levels: Readonly<Record<string, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' };

/**
 * Formats a JSON log line (from pino, bunyan or winston) the way Node prints an error: level, message, other fields, then the stack and the
 * error's fields. Returns any other line unchanged.
 */
export function formatJsonEntry(line: string): string {
  const { before = '', json } = jsonEntry.exec(line)?.groups ?? {};
  const fields = parseJson(json ?? '');
  if (!isObject(fields)) return line;
  const key = errorFields.find((name) => isObject(fields[name]));
  const error = key === undefined ? fields : (fields[key] as Fields);
  const stack = stringOrNull(error['stack']) ?? (key === undefined ? null : stringOrNull(error['message']));
  const message = stringOrNull(fields['msg']) ?? stringOrNull(fields['message']);
  if (message === null && stack === null) return line;
  const { level, severity } = fields;
  const levelName =
    typeof level === 'number' ? levels[level] : (stringOrNull(level) ?? stringOrNull(severity));
  const ownMessage = message !== null && !stack?.includes(message) ? message : '';
  const otherFields = formatFields(omitLoggerFields(fields, key), Infinity);
  const head = [`${levelName ?? ''}:`, ownMessage, otherFields];
  const first = `${before}${head.filter((part) => part !== '' && part !== ':').join(' ')}`;
  if (stack === null) return first;
  const errorFieldsText = key === undefined ? '' : formatFields(omitLoggerFields(error, 'type'), 100);
  return [first, `${stack}${errorFieldsText === '' ? '' : ` ${errorFieldsText}`}`]
    .filter((part) => part.trim() !== '')
    .join('\n');
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function omitLoggerFields(fields: Fields, without: string | undefined): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !loggerFields.has(name) && name !== without),
  );
}

function formatFields(fields: Fields, breakLength: number): string {
  return Object.keys(fields).length === 0
    ? ''
    : inspect(fields, { depth: 3, breakLength, maxStringLength: 2_000 });
}
