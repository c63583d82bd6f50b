import { jsonOf } from '../json-of.js';
import type { ServerLine } from '../model/evidence.js';
import { bounds, clipMiddle } from './bounded-text.js';
import { inspect } from 'node:util';

/** A span of time, inclusive at both ends, in milliseconds since the epoch. */
export interface Window {
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
const most = bounds.serverOutput * 4;
/** How many bytes at the end are searched for the last timestamp. */
const probeBytes = 64 * 1024;
const stamp = /^(\d{12,14}) /;
const lineFeed = 0x0a;

/** Returns the lines of a time window, or the end of a long one. The lines of a log are `<epoch ms> <text>`, in chronological order. */
export function readLogWindow(log: Buffer, window: Window): LogPart {
  const { bytes, cutBytes } = findWindow(log, window);
  return { text: removeStamps(bytes), cutBytes };
}

function findWindow(log: Buffer, window: Window): { readonly bytes: Buffer; readonly cutBytes: number } {
  const from = findOffset(log, window.from);
  const to = findOffset(log, window.to + 1);
  const start = Math.max(from, to - most);
  return { bytes: log.subarray(start > from ? findNextLine(log, start) : start, to), cutBytes: start - from };
}

/** Returns the lines of a window, or the end of a long one, with their times. */
export function readLogLines(log: Buffer, window: Window): ServerLine[] {
  const lines = findWindow(log, window).bytes.toString('utf8').split('\n');
  let time = window.from;
  return lines.flatMap((line) => {
    time = Number(stamp.exec(line)?.[1] ?? time);
    const formatted = formatJsonEntry(line.replace(stamp, '')).split('\n');
    return formatted.flatMap((text) => (text.trim() === '' || emptyField.test(text) ? [] : [{ time, text }]));
  });
}

/** Returns both ends of a log: a build prints its first error near the beginning, and why it stopped at the end. */
export function readLogEnds(log: Buffer): LogPart {
  if (log.length <= most) return { text: removeStamps(log), cutBytes: 0 };
  const head = log.subarray(0, most / 2);
  const tail = log.subarray(findNextLine(log, log.length - most / 2));
  const text = `${removeStamps(head)}\n${removeStamps(tail)}`;
  return { text: clipMiddle(text, bounds.serverOutput).text, cutBytes: log.length - most };
}

/** Returns the timestamp of the last line of a log, or null if it has none. */
export function readLastTime(log: Buffer): number | null {
  const lines = log.subarray(-probeBytes).toString('utf8').split('\n');
  const stamped = lines.findLast((line) => stamp.test(line));
  return stamped === undefined ? null : Number.parseInt(stamped, 10);
}

/** Returns the timestamp of the last matching line before a time; null if there is none. */
export function findLastTime(log: Buffer, line: RegExp, before: number): number | null {
  const lines = log.toString('utf8', 0, findOffset(log, before + 1)).split('\n');
  const last = lines.findLast((stamped) => line.test(stamped) && stamp.test(stamped));
  return last === undefined ? null : Number.parseInt(last, 10);
}

/** Returns the offset of the first line whose timestamp is `time` or later, by bisection. */
function findOffset(log: Buffer, time: number): number {
  let [low, high] = [0, log.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const line = findStampedLine(log, middle);
    if (line === null || line.time >= time) high = middle;
    else low = line.start + 1;
  }
  return findStampedLine(log, low)?.start ?? log.length;
}

/** Returns the first line with a timestamp that begins at or after `from`. */
function findStampedLine(log: Buffer, from: number): { time: number; start: number } | null {
  for (
    let start = from === 0 ? 0 : findNextLine(log, from - 1);
    start < log.length;
    start = findNextLine(log, start)
  ) {
    const time = stamp.exec(log.toString('latin1', start, start + 16))?.[1];
    if (time !== undefined) return { time: Number(time), start };
  }
  return null;
}

function findNextLine(log: Buffer, at: number): number {
  const feed = log.indexOf(lineFeed, at);
  return feed < 0 ? log.length : feed + 1;
}

function removeStamps(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .split('\n')
    .map((line) => formatJsonEntry(line.replace(stamp, '')))
    .filter((line) => !emptyField.test(line))
    .join('\n')
    .trimEnd();
}

/** Database drivers print even the empty fields of an error. */
const emptyField = /^\s+\w+: undefined,?$/;

type Fields = Readonly<Record<string, unknown>>;

/** A JSON log line, perhaps after the prefix of a program that runs several servers. */
const entry = /^(?<before>[^{]{0,40})(?<json>\{.*\})\s*$/;
/** The fields in which loggers put an error: pino and bunyan, winston, Elastic's schema. */
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
  const { before = '', json } = entry.exec(line)?.groups ?? {};
  const fields = jsonOf(json ?? '');
  if (!isObject(fields)) return line;
  const key = errorFields.find((name) => isObject(fields[name]));
  const error = key === undefined ? fields : (fields[key] as Fields);
  const stack = stringOrNull(error['stack']) ?? (key === undefined ? null : stringOrNull(error['message']));
  const message = stringOrNull(fields['msg']) ?? stringOrNull(fields['message']);
  if (message === null && stack === null) return line;
  const { level, severity } = fields;
  const named = typeof level === 'number' ? levels[level] : (stringOrNull(level) ?? stringOrNull(severity));
  const ownMessage = message !== null && !stack?.includes(message) ? message : '';
  const others = formatFields(omitLoggerFields(fields, key), Infinity);
  const head = [`${named ?? ''}:`, ownMessage, others];
  const first = `${before}${head.filter((part) => part !== '' && part !== ':').join(' ')}`;
  if (stack === null) return first;
  const own = key === undefined ? '' : formatFields(omitLoggerFields(error, 'type'), 100);
  return [first, `${stack}${own === '' ? '' : ` ${own}`}`].filter((part) => part.trim() !== '').join('\n');
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
