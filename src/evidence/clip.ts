/** A text that may have been shortened; `cutBytes` is 0 if it was not. */
export interface Clipped {
  readonly text: string;
  readonly cutBytes: number;
}

const lineFeed = 0x0a;
/** A line of more bytes than this is cut within it. */
const longLine = 1_000;

/** Shortens a text to at most `maxBytes` of UTF-8 by replacing its middle with a note. */
export function clipMiddle(text: string, maxBytes: number): Clipped {
  return clip(text, maxBytes, (room) => Math.ceil(room / 2));
}

/** Shortens a text to at most `maxBytes` of UTF-8 by replacing its beginning with a note. */
export function clipStart(text: string, maxBytes: number): Clipped {
  return clip(text, maxBytes, () => 0);
}

function clip(text: string, maxBytes: number, headOf: (room: number) => number): Clipped {
  if (text.length * 3 <= maxBytes) return { text, cutBytes: 0 };
  // Joins copied bytes instead of using slice(), since a slice keeps the whole original alive.
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return { text, cutBytes: 0 };
  const marker = (cut: number) => `\n… ${cut} bytes cut …\n`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(marker(bytes.length)));
  const head = previousCharacter(bytes, headOf(room));
  const tail = nextLine(bytes, nextCharacter(bytes, bytes.length - (room - headOf(room))));
  const cutBytes = tail - head;
  const whole = bytes.toString('utf8', 0, head) + marker(cutBytes) + bytes.toString('utf8', tail);
  return { text: head === 0 ? whole.trimStart() : whole, cutBytes };
}

function previousCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  return start;
}

function nextCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return start;
}

/** Returns where the line begins that follows a cut, since half a path would look like another one; the cut itself if lines are long. */
function nextLine(bytes: Buffer, at: number): number {
  if (bytes[at - 1] === lineFeed) return at;
  const feed = bytes.subarray(at, at + longLine).indexOf(lineFeed);
  return feed < 0 || at + feed + 1 === bytes.length ? at : at + feed + 1;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
