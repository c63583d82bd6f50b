import { PassThrough } from 'node:stream';
import type { AnyMessage, JsonRpcId, Stream } from '@agentclientprotocol/sdk';
import { parseJson } from '../parse-json.js';
import { createLineSplitter } from './line-splitter.js';

/** The maximum length of a message; legitimate ones are shorter. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024 * 1024;
/** With more unread responses than this, the program is not reading them. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** The connection between self-heal and a program, with a message on each line. */
export interface Wire {
  readonly stream: Stream;
  /** The program's standard input; its end makes the program exit. */
  readonly input: PassThrough;
  /** Reads a chunk of the program's output. */
  write(chunk: Buffer): void;
  /** Ends the connection in both directions. */
  close(): void;
}

interface WireListener {
  /** Called with a line that is not a message. */
  readonly onText: (line: string) => void;
  /** Called in order of arrival; the SDK keeps that order only for responses. */
  readonly onNotification: (method: string, params: unknown) => void;
  /** Called if the program violates the protocol; its output is no longer read. */
  readonly onBroken: (why: string) => void;
}

/**
 * Connects to the standard streams of a program. The SDK's own stream would wait forever for a response that is not JSON, and print duplicate or
 * malformed messages to our terminal.
 */
export function openWire({ onText, onNotification, onBroken }: WireListener): Wire {
  const input = new PassThrough();
  const unanswered = new Set<JsonRpcId>();
  let controller: ReadableStreamDefaultController<AnyMessage> | null = null;
  const close = () => {
    controller?.close();
    controller = null;
    input.end();
  };
  const fail = (why: string) => {
    if (!controller) return;
    close();
    onBroken(why);
  };
  const onLine = (line: string) => {
    if (!controller) return;
    if (line.length >= MAX_MESSAGE_CHARACTERS)
      return fail(`it sent a message of more than ${MAX_MESSAGE_CHARACTERS / 1024 / 1024} MB`);
    if (!line.trimStart().startsWith('{')) return line.trim() === '' ? undefined : onText(line);
    const message = parseJson(line) as AnyMessage | undefined;
    if (message === undefined) return fail('it sent a message that is not JSON');
    if ('method' in message && !('id' in message)) return onNotification(message.method, message.params);
    // Only the first response counts.
    if (!('method' in message) && !unanswered.delete(message.id)) return;
    controller.enqueue(message);
  };
  const lines = createLineSplitter(onLine, MAX_MESSAGE_CHARACTERS);
  const readable = new ReadableStream<AnyMessage>({
    start: (opened) => {
      controller = opened;
    },
    cancel: () => {
      controller = null;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write: (message) => {
      if (input.writableEnded) return;
      if ('method' in message && 'id' in message) unanswered.add(message.id);
      input.write(`${JSON.stringify(message)}\n`);
      if (input.readableLength + input.writableLength > MAX_UNREAD_BYTES)
        fail('it does not read the answers to its requests');
    },
  });
  return {
    stream: { readable, writable },
    input,
    write: (chunk) => {
      if (controller) lines.write(chunk);
    },
    close,
  };
}
