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
  let parts: Buffer[] = [];
  let length = 0;
  const add = (bytes: Buffer) => {
    const room = Math.max(0, maxBytes - length);
    length += bytes.length;
    if (room > 0) parts.push(bytes.subarray(0, room));
  };
  const emit = () => {
    const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const whole = length <= maxBytes;
    [parts, length] = [[], 0];
    if (bytes) onLine({ bytes, whole });
  };
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += 1) {
      // Skips empty lines one at a time: a zip bomb may consist of them, and searching for each line feed would be slow.
      if (chunk[start] === lineFeed && length === 0) continue;
      const end = chunk.indexOf(lineFeed, start);
      // The rest of a line comes with the next chunk, so a copy is kept instead of all of this one.
      add(end < 0 ? Buffer.from(chunk.subarray(start)) : chunk.subarray(start, end));
      if (end < 0) break;
      emit();
      start = end;
    }
  }
  if (length > 0) emit();
}
