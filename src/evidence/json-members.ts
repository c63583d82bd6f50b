/** One piece of a large JSON object: a member's value, or one element of a member that is an array. */
export interface JsonMember {
  readonly key: string;
  /** The piece as JSON. */
  readonly json: string;
}

/** How the reading of a large JSON object ended. */
export interface JsonMembersEnd {
  /** False where the object did not end: the file was torn. */
  readonly complete: boolean;
  /** How many pieces were too long to be kept. */
  readonly tooLong: number;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);
const leftBracket = 0x5b;
const space = 0x20;

/**
 * Hands out a JSON object piece by piece as its bytes come, so that one of any size is read in the memory of its
 * longest piece, and a torn one gives what it holds. It does not validate: what is no JSON gives pieces that do not
 * parse.
 */
export async function eachJsonMember(
  chunks: AsyncIterable<Buffer>,
  maxPieceBytes: number,
  onMember: (member: JsonMember) => void,
): Promise<JsonMembersEnd> {
  const scanner = new JsonMemberScanner(maxPieceBytes, onMember);
  for await (const chunk of chunks) scanner.feed(chunk);
  return { complete: scanner.complete, tooLong: scanner.tooLong };
}

class JsonMemberScanner {
  readonly #max: number;
  readonly #onMember: (member: JsonMember) => void;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inArray = false;
  #afterColon = false;
  #key = '';
  /** Where the piece that is being read began in this chunk, or -1 between pieces. */
  #start = -1;
  #parts: Buffer[] = [];
  #length = 0;
  complete = false;
  tooLong = 0;

  constructor(maxPieceBytes: number, onMember: (member: JsonMember) => void) {
    this.#max = maxPieceBytes;
    this.#onMember = onMember;
  }

  feed(chunk: Buffer): void {
    if (this.#start >= 0) this.#start = 0;
    for (let at = 0; at < chunk.length && !this.complete; at += 1) this.#step(chunk, at);
    if (this.#start >= 0) this.#keep(chunk.subarray(this.#start));
  }

  #step(chunk: Buffer, at: number): void {
    const byte = chunk[at] ?? space;
    if (this.#inString) return this.#stepInString(byte);
    if (byte <= space) return;
    const pieceDepth = this.#inArray ? 2 : 1;
    if (this.#depth === pieceDepth && (byte === comma || closing.has(byte))) this.#endPiece(chunk, at);
    if (byte === colon && this.#depth === 1) {
      this.#endPiece(chunk, at);
      this.#afterColon = true;
      return;
    }
    this.#enter(byte, at);
  }

  #enter(byte: number, at: number): void {
    const arrayBegins = this.#depth === 1 && this.#afterColon && byte === leftBracket && this.#start < 0;
    const isSeparator = byte === comma || closing.has(byte);
    const inside = this.#depth >= (this.#inArray ? 2 : 1);
    if (inside && this.#start < 0 && !arrayBegins && !isSeparator) this.#start = at;
    if (arrayBegins) this.#inArray = true;
    if (byte === quote) this.#inString = true;
    if (opening.has(byte)) this.#depth += 1;
    if (closing.has(byte)) this.#leave();
    if (byte === comma && this.#depth === 1) this.#afterColon = false;
  }

  #leave(): void {
    this.#depth -= 1;
    if (this.#depth === 1) this.#inArray = false;
    if (this.#depth <= 0) this.complete = true;
  }

  #stepInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inString = false;
  }

  #keep(bytes: Buffer): void {
    this.#length += bytes.length;
    // Copied: a view would keep its whole chunk alive, and streams may use it again.
    if (this.#length <= this.#max) this.#parts.push(Buffer.from(bytes));
    else this.#parts = [];
  }

  #endPiece(chunk: Buffer, at: number): void {
    if (this.#start < 0) return;
    this.#keep(chunk.subarray(this.#start, at));
    const json = Buffer.concat(this.#parts).toString('utf8').trim();
    const kept = this.#length <= this.#max;
    [this.#start, this.#parts, this.#length] = [-1, [], 0];
    if (!kept) this.tooLong += 1;
    else if (this.#afterColon) this.#onMember({ key: this.#key, json });
    else this.#key = json.slice(1, -1);
  }
}
