import { Readable } from 'node:stream';
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/sdk/shared/stdio.js';
import { parseJson } from '../../parse-json.js';

/** The id of a JSON-RPC request; null if it is unknown. */
type RequestId = string | number | null;

/** If a message is longer than this, not even its id is read. */
const MAX_READ = 8 * STDIO_DEFAULT_MAX_BUFFER_SIZE;

/**
 * Passes on a client's messages, one per line. Drops a message that is too long for the server, and calls `refuse` with its id. The transport itself
 * would end the session without an answer, and the client would wait for one.
 */
export function dropLongMessages(
  input: Readable,
  refuse: (id: RequestId, message: string) => void,
): Readable {
  const message = `the message is longer than ${STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes`;
  return Readable.from(
    splitLines(input, (start) => refuse(readId(start), message)),
    { objectMode: false },
  );
}

async function* splitLines(input: Readable, onTooLong: (line: Buffer) => void): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  const addPart = (part: Buffer) => {
    size += part.length;
    if (size <= MAX_READ) parts.push(part);
  };
  const endLine = (): Buffer | null => {
    const line = Buffer.concat(parts);
    const isTooLong = size > STDIO_DEFAULT_MAX_BUFFER_SIZE;
    [parts, size] = [[], 0];
    if (isTooLong) onTooLong(line);
    return isTooLong ? null : line;
  };
  for await (const chunk of input) {
    let remaining = Buffer.from(chunk as Uint8Array);
    for (let end = remaining.indexOf('\n') + 1; end > 0; end = remaining.indexOf('\n') + 1) {
      addPart(remaining.subarray(0, end));
      remaining = remaining.subarray(end);
      const line = endLine();
      if (line) yield line;
    }
    addPart(remaining);
  }
  const last = endLine();
  if (last && last.length > 0) yield last;
}

function readId(line: Buffer): RequestId {
  const { id } = Object(parseJson(line.toString())) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
