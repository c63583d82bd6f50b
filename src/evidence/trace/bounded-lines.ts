/** One line of a stream; `whole` is false if it exceeded the limit and only its beginning is here. */
export interface BoundedLine {
  readonly bytes: Buffer;
  readonly whole: boolean;
}

const lineFeed = 0x0a;

/**
 * Calls `onLine` for each line of a byte stream, cut to at most `maxBytes`; holds no more than one line in memory. The
 * bytes are valid only during the call.
 */
export async function eachBoundedLine(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  onLine: (line: BoundedLine) => void,
): Promise<void> {
  const splitter = new LineSplitter(maxBytes, onLine);
  for await (const chunk of chunks) splitter.feed(chunk);
  splitter.end();
}

class LineSplitter {
  readonly #max: number;
  readonly #onLine: (line: BoundedLine) => void;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number, onLine: (line: BoundedLine) => void) {
    this.#max = maxBytes;
    this.#onLine = onLine;
  }

  feed(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      // Skips empty lines one at a time: a zip bomb may consist of them, and searching for each line feed would be slow.
      if (chunk[start] === lineFeed && this.#length === 0) {
        start += 1;
        continue;
      }
      const feed = chunk.indexOf(lineFeed, start);
      if (feed < 0) return this.#add(Buffer.from(chunk.subarray(start)));
      this.#add(chunk.subarray(start, feed));
      this.#emit();
      start = feed + 1;
    }
  }

  end(): void {
    if (this.#length > 0) this.#emit();
  }

  #add(bytes: Buffer): void {
    const room = this.#max - Math.min(this.#max, this.#length);
    this.#length += bytes.length;
    if (room > 0) this.#parts.push(bytes.length > room ? bytes.subarray(0, room) : bytes);
  }

  #emit(): void {
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const whole = this.#length <= this.#max;
    [this.#parts, this.#length] = [[], 0];
    if (bytes) this.#onLine({ bytes, whole });
  }
}
