import { openPromise, type Entry, type ZipFile } from 'yauzl';

/** An entry of a zip, by its name in the zip. The name is compared, and never made a path (EV-11). */
export interface ZipEntry {
  readonly name: string;
  readonly entry: Entry;
}

/** Bytes of an entry, and whether it had more. */
export interface EntryBytes {
  readonly bytes: Buffer;
  readonly more: boolean;
}

/** Lists more entries than any trace has; a zip of only names would otherwise never end. */
const maxEntries = 500_000;
const maxWanted = 2_000;

/**
 * Opens a zip for the time of `work`. Rejects with a reason in a line where it is no zip or torn. Names are not
 * validated here: one bad name would make the whole trace unreadable, and none is ever written to.
 */
export async function withZip<T>(file: string, work: (zip: ZipFile) => Promise<T>): Promise<T> {
  const zip = await openPromise(file, { autoClose: false, decodeStrings: false });
  // Errors also reach the promise that waits for them; this keeps a late one from ending the process.
  zip.on('error', () => undefined);
  try {
    return await work(zip);
  } finally {
    zip.close();
  }
}

/** The entries whose names are wanted; the rest is not kept, since a long trace has tens of thousands. */
export async function entriesOf(zip: ZipFile, wanted: (name: string) => boolean): Promise<ZipEntry[]> {
  const found: ZipEntry[] = [];
  let seen = 0;
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileNameRaw.toString('utf8');
    if (wanted(name)) found.push({ name, entry });
    seen += 1;
    if (seen >= maxEntries || found.length >= maxWanted) break;
  }
  return found;
}

/** An entry inflates to more than is read of it: a zip bomb, or a trace beyond reason. */
export class TooMuchInflated extends Error {}

/** An entry's inflated bytes, chunk by chunk; throws `TooMuchInflated` after `maxBytes`. */
export async function* inflated(zip: ZipFile, entry: Entry, maxBytes: number): AsyncGenerator<Buffer> {
  const stream = await zip.openReadStreamPromise(entry);
  stream.on('error', () => undefined);
  let room = maxBytes;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      room -= chunk.length;
      if (room < 0)
        throw new TooMuchInflated(`it inflates to more than the ${maxBytes} bytes that are read of it`);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
}

/** The first `maxBytes` of an entry. */
export async function entryBytes(zip: ZipFile, entry: Entry, maxBytes: number): Promise<EntryBytes> {
  let room = maxBytes;
  const parts: Buffer[] = [];
  for await (const chunk of inflated(zip, entry, Infinity)) {
    parts.push(chunk.subarray(0, room));
    if (chunk.length > room) return { bytes: Buffer.concat(parts), more: true };
    room -= chunk.length;
  }
  return { bytes: Buffer.concat(parts), more: false };
}
