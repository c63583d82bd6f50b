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
  /** Bytes of the requested part that were left out. */
  readonly cutBytes: number;
}

/** The maximum size of the returned part; more than the bound, since timestamps are removed from it. */
const most = bounds.serverOutput * 4;
/** How far from the end the last timestamp is looked for. */
const probeBytes = 64 * 1024;
const stamp = /^(\d{12,14}) /;
const lineFeed = 0x0a;

/** Returns the lines of a time window; of a long window, the end. The lines of a log are `<epoch ms> <text>`, in chronological order. */
export function logWindow(log: Buffer, window: Window): LogPart {
  const { bytes, cutBytes } = bytesIn(log, window);
  return { text: withoutStamps(bytes), cutBytes };
}

function bytesIn(log: Buffer, window: Window): { readonly bytes: Buffer; readonly cutBytes: number } {
  const from = firstAt(log, window.from);
  const to = firstAt(log, window.to + 1);
  const start = Math.max(from, to - most);
  return { bytes: log.subarray(start > from ? lineAfter(log, start) : start, to), cutBytes: start - from };
}

/** Returns the lines of a window with their clock; of a long window, the end. */
export function logLines(log: Buffer, window: Window): ServerLine[] {
  const lines = bytesIn(log, window).bytes.toString('utf8').split('\n');
  let time = window.from;
  return lines.flatMap((line) => {
    time = Number(stamp.exec(line)?.[1] ?? time);
    const printed = printedEntry(line.replace(stamp, '')).split('\n');
    return printed.flatMap((text) => (text.trim() === '' || emptyField.test(text) ? [] : [{ time, text }]));
  });
}

/** Returns both ends of a log: a build reports its first error at the beginning, and why it stopped at the end. */
export function logEnds(log: Buffer): LogPart {
  if (log.length <= most) return { text: withoutStamps(log), cutBytes: 0 };
  const head = log.subarray(0, most / 2);
  const tail = log.subarray(lineAfter(log, log.length - most / 2));
  const text = `${withoutStamps(head)}\n${withoutStamps(tail)}`;
  return { text: clipMiddle(text, bounds.serverOutput).text, cutBytes: log.length - most };
}

/** Returns the timestamp of the last line of a log, or null if it has none. */
export function lastLogTime(log: Buffer): number | null {
  const lines = log.subarray(-probeBytes).toString('utf8').split('\n');
  const stamped = lines.findLast((line) => stamp.test(line));
  return stamped === undefined ? null : Number.parseInt(stamped, 10);
}

/** Returns the timestamp of the last line up to a time that matches; null if there is none. */
export function lastTimeOf(log: Buffer, line: RegExp, before: number): number | null {
  const lines = log.toString('utf8', 0, firstAt(log, before + 1)).split('\n');
  const last = lines.findLast((stamped) => line.test(stamped) && stamp.test(stamped));
  return last === undefined ? null : Number.parseInt(last, 10);
}

/** Returns the offset of the first line whose timestamp is `time` or later, by bisection. */
function firstAt(log: Buffer, time: number): number {
  let [low, high] = [0, log.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const line = stampedLine(log, middle);
    if (line === null || line.time >= time) high = middle;
    else low = line.start + 1;
  }
  return stampedLine(log, low)?.start ?? log.length;
}

/** Returns the first line with a timestamp that begins at or after `from`. */
function stampedLine(log: Buffer, from: number): { time: number; start: number } | null {
  for (
    let start = from === 0 ? 0 : lineAfter(log, from - 1);
    start < log.length;
    start = lineAfter(log, start)
  ) {
    const time = stamp.exec(log.toString('latin1', start, start + 16))?.[1];
    if (time !== undefined) return { time: Number(time), start };
  }
  return null;
}

/** Returns where the line after the one at this position begins. */
function lineAfter(log: Buffer, at: number): number {
  const feed = log.indexOf(lineFeed, at);
  return feed < 0 ? log.length : feed + 1;
}

function withoutStamps(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .split('\n')
    .map((line) => printedEntry(line.replace(stamp, '')))
    .filter((line) => !emptyField.test(line))
    .join('\n')
    .trimEnd();
}

/** Drivers print each field that an error could have. */
const emptyField = /^\s+\w+: undefined,?$/;

type Fields = Readonly<Record<string, unknown>>;

/** A line of a log in JSON, after what a program that runs several servers puts before it. */
const entry = /^(?<before>[^{]{0,40})(?<json>\{.*\})\s*$/;
/** Where loggers put an error: pino and bunyan, winston, Elastic's schema. */
const errorFields = ['err', 'error', 'exception'];
/** Fields that every entry has and no reader needs. */
const ofLogger = new Set('level severity time timestamp ts pid hostname name v msg message stack'.split(' '));
/** The numbers of pino and bunyan. */
const levels: Readonly<Record<string, string>> = { 40: 'warn', 50: 'error', 60: 'fatal' };

/**
 * Returns an entry of a log in JSON, as pino, bunyan and winston write it, the way Node prints an error: level, message, other fields, then
 * the stack with its lines and the error's fields. Any other line stays as it is.
 */
export function printedEntry(line: string): string {
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
  const others = printed(rest(fields, key), Infinity);
  const head = [`${named ?? ''}:`, ownMessage, others];
  const first = `${before}${head.filter((part) => part !== '' && part !== ':').join(' ')}`;
  if (stack === null) return first;
  const own = key === undefined ? '' : printed(rest(error, 'type'), 100);
  return [first, `${stack}${own === '' ? '' : ` ${own}`}`].filter((part) => part.trim() !== '').join('\n');
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function rest(fields: Fields, without: string | undefined): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !ofLogger.has(name) && name !== without),
  );
}

function printed(fields: Fields, breakLength: number): string {
  return Object.keys(fields).length === 0
    ? ''
    : inspect(fields, { depth: 3, breakLength, maxStringLength: 2_000 });
}
