import { openPromise, type Entry, type ZipFile } from 'yauzl';

/** An entry of a zip, with its name there. Names are only compared and never used as paths (EV-11). */
export interface ZipEntry {
  readonly name: string;
  readonly entry: Entry;
}

/** More entries than any real trace has; stops at a zip that consists of nothing but names. */
const maxEntries = 500_000;
const maxWanted = 2_000;

/**
 * Opens a zip while `work` runs. Rejects with a one-line reason if the file is not a zip or is truncated. Does not
 * validate names: one invalid name would make the whole trace unreadable, and no name is ever used as a path.
 */
export async function withZip<T>(file: string, work: (zip: ZipFile) => Promise<T>): Promise<T> {
  const zip = await openPromise(file, { autoClose: false, decodeStrings: false });
  // Errors also reject the pending promise; this listener keeps a late one from stopping the process.
  zip.on('error', () => undefined);
  try {
    return await work(zip);
  } finally {
    zip.close();
  }
}

/** Returns the entries with wanted names; others are not kept, since a long trace has tens of thousands. */
export async function entriesOf(
  zip: ZipFile,
  wanted: (name: string) => boolean,
  most = maxWanted,
): Promise<ZipEntry[]> {
  const found: ZipEntry[] = [];
  let seen = 0;
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileNameRaw.toString('utf8');
    if (wanted(name)) found.push({ name, entry });
    seen += 1;
    if (seen >= maxEntries || found.length >= most) break;
  }
  return found;
}

/** An entry inflates to more than its limit: a zip bomb, or an unreasonably large trace. */
export class TooMuchInflated extends Error {}

/** Yields an entry's inflated bytes in chunks; throws `TooMuchInflated` after `maxBytes`. */
export async function* inflated(zip: ZipFile, entry: Entry, maxBytes: number): AsyncGenerator<Buffer> {
  const stream = await zip.openReadStreamPromise(entry);
  stream.on('error', () => undefined);
  let room = maxBytes;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      room -= chunk.length;
      if (room < 0) throw new TooMuchInflated(`it inflates to more than the limit of ${maxBytes} bytes`);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
}

/** Returns the first `maxBytes` of an entry. */
export async function firstBytes(zip: ZipFile, entry: Entry, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of inflated(zip, entry, Infinity)) {
    parts.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
}

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
