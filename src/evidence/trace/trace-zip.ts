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
