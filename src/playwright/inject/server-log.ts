import fs from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const MAX_BYTES = 8 * 1024 * 1024;
const beginningBytes = 2 * 1024 * 1024;
const endBytes = 3 * 1024 * 1024;
const MAX_LINE_LENGTH = 16 * 1024;
const flushAfterMs = 100;
const flushAtChars = 256 * 1024;

/**
 * Appends `<epoch ms> <text>` lines to a file, without colors. At 8 MB, a note replaces its middle, because a build reports its first error at the
 * beginning, and a crash comes at the end.
 */
export class ServerLog {
  readonly #file: string;
  readonly #fd: number;
  #size = 0;
  /** The beginnings of incomplete lines, by stream. */
  readonly #unfinished = new Map<symbol, string>();
  #pending: string[] = [];
  #pendingChars = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(file: string) {
    this.#file = file;
    this.#fd = fs.openSync(file, 'w+');
    process.once('exit', () => {
      for (const incomplete of this.#unfinished.values()) this.#addLine(incomplete);
      this.flush();
    });
  }

  /** Returns a function that logs the chunks of one stream. Holds back an incomplete line. */
  openStream(): (text: string) => void {
    const stream = Symbol('stream');
    return (text) => {
      const lines = ((this.#unfinished.get(stream) ?? '') + text).split('\n');
      const incomplete = lines.pop() ?? '';
      if (incomplete === '' || incomplete.length > MAX_LINE_LENGTH) this.#unfinished.delete(stream);
      else this.#unfinished.set(stream, incomplete);
      for (const line of lines) this.#addLine(line);
      if (incomplete.length > MAX_LINE_LENGTH) this.#addLine(incomplete);
    };
  }

  #addLine(text: string): void {
    const clean = stripVTControlCharacters(text.replace(/\r$/, ''));
    const clipped = clean.length > MAX_LINE_LENGTH ? `${clean.slice(0, MAX_LINE_LENGTH)}… (line cut)` : clean;
    this.#pending.push(`${Date.now()} ${clipped}\n`);
    this.#pendingChars += clipped.length;
    if (this.#pendingChars >= flushAtChars) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushAfterMs).unref();
  }

  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(''));
    this.#pending = [];
    this.#pendingChars = 0;
    try {
      this.#write(bytes);
    } catch {
      // A full disk must not end the user's run, so the log stays incomplete.
    }
  }

  #write(bytes: Buffer): void {
    if (this.#size + bytes.length > MAX_BYTES) this.#cutMiddle();
    fs.writeSync(this.#fd, bytes, 0, bytes.length, this.#size);
    this.#size += bytes.length;
  }

  #cutMiddle(): void {
    const all = fs.readFileSync(this.#file);
    const headEnd = all.lastIndexOf(0x0a, beginningBytes) + 1;
    const tailStart = all.indexOf(0x0a, all.length - endBytes) + 1;
    const [head, tail] = [all.subarray(0, headEnd), all.subarray(tailStart)];
    // The note has the time of the line after it, so that the file stays in chronological order.
    const stamp = /^\d+/.exec(tail.toString('latin1', 0, 20))?.[0] ?? String(Date.now());
    const note = `${stamp} [self-heal] ${tailStart - headEnd} bytes of server output were cut here\n`;
    const shortened = Buffer.concat([head, Buffer.from(note), tail]);
    fs.writeSync(this.#fd, shortened, 0, shortened.length, 0);
    fs.ftruncateSync(this.#fd, shortened.length);
    this.#size = shortened.length;
  }
}
