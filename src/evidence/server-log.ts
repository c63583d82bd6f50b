import { open, type FileHandle } from 'node:fs/promises';
import { bounds } from './bounds.js';
import { clipMiddle } from './clip.js';

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

/** How much of the requested part is read at most; more than the bound, since timestamps are removed from it. */
const maxRead = bounds.serverOutput * 4;
const probeBytes = 64 * 1024;
const stamp = /^(\d{12,14}) /;

/**
 * Reads the lines of a time window from a log whose lines are `<epoch ms> <text>` in chronological order. Finds the
 * window by bisection, so that a log of gigabytes costs a few dozen small reads; of a long window, reads the end.
 * Rejects if the file cannot be read.
 */
export async function readLogWindow(path: string, window: Window): Promise<LogPart> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const from = await firstAt(file, size, window.from);
  const to = await firstAt(file, size, window.to + 1);
  const start = Math.max(from, to - maxRead);
  const bytes = await readBytes(file, start, to);
  return { text: withoutStamps(wholeLines(bytes, start > from)), cutBytes: start - from };
}

/** Reads both ends of a log: a build reports its first error at the beginning, and why it stopped at the end. */
export async function readLogEnds(path: string): Promise<LogPart> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  if (size <= maxRead) return { text: withoutStamps(await readBytes(file, 0, size)), cutBytes: 0 };
  const head = await readBytes(file, 0, maxRead / 2);
  const tail = wholeLines(await readBytes(file, size - maxRead / 2, size), true);
  const text = `${withoutStamps(head)}\n${withoutStamps(tail)}`;
  return { text: clipMiddle(text, bounds.serverOutput).text, cutBytes: size - maxRead };
}

/** Returns the timestamp of the last line of a log, or null if it has none. */
export async function lastLogTime(path: string): Promise<number | null> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const bytes = await readBytes(file, Math.max(0, size - probeBytes), size);
  const lines = bytes.toString('utf8').split('\n');
  const stamped = lines.findLast((line) => stamp.test(line));
  return stamped === undefined ? null : Number.parseInt(stamped, 10);
}

/** Returns the offset of the first line whose timestamp is `time` or later. */
async function firstAt(file: FileHandle, size: number, time: number): Promise<number> {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const line = await nextStampedLine(file, middle, high);
    if (line === null || line.time >= time) high = middle;
    else low = line.start + 1;
  }
  return (await nextStampedLine(file, low, size))?.start ?? size;
}

/** Returns the first line with a timestamp that begins at or after `from` and before `until`. */
async function nextStampedLine(
  file: FileHandle,
  from: number,
  until: number,
): Promise<{ time: number; start: number } | null> {
  // Starts one byte earlier, since a line that begins at `from` is recognized by the line feed before it.
  for (let at = Math.max(0, from - 1); at < until; at += probeBytes - 16) {
    const text = (await readBytes(file, at, Math.min(until + 16, at + probeBytes))).toString('latin1');
    for (const match of text.matchAll(at === 0 ? /(?:^|\n)(\d{12,14}) /g : /\n(\d{12,14}) /g)) {
      const start = at + match.index + (match[0].startsWith('\n') ? 1 : 0);
      if (start >= until) return null;
      if (start >= from) return { time: Number(match[1]), start };
    }
  }
  return null;
}

async function readBytes(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, to - from));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  return buffer.subarray(0, bytesRead);
}

function wholeLines(bytes: Buffer, cutAtStart: boolean): Buffer {
  if (!cutAtStart) return bytes;
  const feed = bytes.indexOf(0x0a);
  return feed < 0 ? bytes : bytes.subarray(feed + 1);
}

function withoutStamps(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .split('\n')
    .map((line) => line.replace(stamp, ''))
    .join('\n')
    .trimEnd();
}
