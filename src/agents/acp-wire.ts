import { PassThrough } from 'node:stream';
import type { AnyMessage, JsonRpcId, Stream } from '@agentclientprotocol/sdk';
import { jsonOf } from '../json-of.js';
import { lineSplitter } from './line-splitter.js';

/** No message that an agent has reason to send is longer. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024 * 1024;
/** More than this waits only for a program that does not read the answers to its own requests. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** The messages between self-heal and a program, a line each. */
export interface Wire {
  readonly stream: Stream;
  /** What the program reads; its end tells it to exit. */
  readonly input: PassThrough;
  /** Takes what the program wrote. */
  write(chunk: Buffer): void;
  /** No more messages will come. */
  close(): void;
}

interface WireListener {
  /** A line that is no message. */
  readonly onText: (line: string) => void;
  /** Called in the order in which messages arrive, which the SDK keeps only for answers. */
  readonly onNotification: (method: string, params: unknown) => void;
  /** The program does not keep to the protocol; nothing that it writes is read any more. */
  readonly onBroken: (why: string) => void;
}

/**
 * Makes messages of the standard streams of a program. The SDK's own would wait forever for an answer that is not JSON, and print on our terminal
 * what comes twice or has another shape.
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
    const message = jsonOf(line) as AnyMessage | undefined;
    if (message === undefined) return fail('it sent a message that is not JSON');
    if ('method' in message && !('id' in message)) return onNotification(message.method, message.params);
    // Only the first answer counts.
    if (!('method' in message) && !unanswered.delete(message.id)) return;
    controller.enqueue(message);
  };
  const lines = lineSplitter(onLine, MAX_MESSAGE_CHARACTERS);
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
