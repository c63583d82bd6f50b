import { openPromise, type Entry, type ZipFile } from 'yauzl';

/** An entry of a zip, with its name there. Names are only compared and never used as paths (EV-11). */
export interface ZipEntry {
  readonly name: string;
  readonly entry: Entry;
}

/** More entries than any real trace has; a hostile zip may consist only of names. */
const MAX_ENTRIES = 500_000;
const MAX_MATCHES = 2_000;

/**
 * Opens a zip while `work` runs. Rejects with a one-line reason if the file is not a zip or is truncated. Names are not validated, because one
 * invalid name would make the whole trace unreadable, and no name is used as a path.
 */
export async function withZip<T>(file: string, use: (zip: ZipFile) => Promise<T>): Promise<T> {
  const zip = await openPromise(file, { autoClose: false, decodeStrings: false });
  // Errors also reject the pending promise. Without this listener, a late one would end the process.
  zip.on('error', () => undefined);
  try {
    return await use(zip);
  } finally {
    zip.close();
  }
}

/** Returns the entries with matching names; a long trace has tens of thousands of others. */
export async function listEntries(
  zip: ZipFile,
  isMatch: (name: string) => boolean,
  maxMatches = MAX_MATCHES,
): Promise<ZipEntry[]> {
  const matches: ZipEntry[] = [];
  let count = 0;
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileNameRaw.toString('utf8');
    if (isMatch(name)) matches.push({ name, entry });
    count += 1;
    if (count >= MAX_ENTRIES || matches.length >= maxMatches) break;
  }
  return matches;
}

/** An entry inflates to more than its limit: a zip bomb, or an unreasonably large trace. */
export class InflateLimitError extends Error {}

/** Yields an entry's inflated bytes in chunks; throws `InflateLimitError` after `maxBytes`. */
export async function* inflate(zip: ZipFile, entry: Entry, maxBytes: number): AsyncGenerator<Buffer> {
  const stream = await zip.openReadStreamPromise(entry);
  stream.on('error', () => undefined);
  let room = maxBytes;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      room -= chunk.length;
      if (room < 0) throw new InflateLimitError(`it inflates to more than the limit of ${maxBytes} bytes`);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
}

/** Returns the first `maxBytes` of an entry. */
export async function readFirstBytes(zip: ZipFile, entry: Entry, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of inflate(zip, entry, Infinity)) {
    parts.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
}

/** One line of a stream, or only its beginning if the line exceeds the limit (`isComplete` is false). */
export interface BoundedLine {
  readonly bytes: Buffer;
  readonly isComplete: boolean;
}

const lineFeed = 0x0a;

/**
 * Calls `onLine` for each line of a byte stream, cut to at most `maxBytes`. No more than one line is in memory. The bytes are valid only during the
 * call.
 */
export async function readBoundedLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  onLine: (line: BoundedLine) => void,
): Promise<void> {
  let parts: Buffer[] = [];
  let length = 0;
  const addBytes = (bytes: Buffer) => {
    const room = Math.max(0, maxBytes - length);
    length += bytes.length;
    if (room > 0) parts.push(bytes.subarray(0, room));
  };
  const emitLine = () => {
    const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const isComplete = length <= maxBytes;
    [parts, length] = [[], 0];
    if (bytes) onLine({ bytes, isComplete });
  };
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += 1) {
      // Empty lines are skipped one at a time, because a zip bomb may consist of them and a search for each line feed would be slow.
      if (chunk[start] === lineFeed && length === 0) continue;
      const end = chunk.indexOf(lineFeed, start);
      // A copy of the line's beginning is kept until the next chunk, instead of the whole chunk.
      addBytes(end < 0 ? Buffer.from(chunk.subarray(start)) : chunk.subarray(start, end));
      if (end < 0) break;
      emitLine();
      start = end;
    }
  }
  if (length > 0) emitLine();
}
