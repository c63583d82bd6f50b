import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  ErrorCode,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { fenced } from '../../fenced.js';
import { truncate } from '../../outputs/truncate.js';
import { formatEvent } from '../../outputs/lines.js';
import { choosePalette } from '../../outputs/streams.js';
import { formatProblem, type Problem } from '../../problem.js';
import { redact } from '../../secrets/redactor.js';
import type { Event } from '../../index.js';
import { readOwnVersion } from '../../own-files.js';
import { type ToolAnswer, dataNotice } from './answers.js';
import { dropLongMessages } from './bounded-messages.js';
import { type Cursor, parseCursor, formatCursor, splitPages } from './page.js';
import { type ToolHost, type Tool, tools } from './tools.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const cursor = z.string().optional().describe('nextCursor of the previous answer, to get its next page');
const nextCursor = z.string().optional();
/** The Markdown again, because Claude Code 2.1.332 shows its model only the data of an answer that has any. */
const text = z.string();

/** The streams of a server, and the signal that ends it. */
export interface ServerProcess {
  readonly input: Readable;
  readonly output: Writable;
  /** Aborts when the client disconnects, or when the process gets a signal to end. */
  readonly closing: AbortSignal;
}

/** Serves the tools until the client disconnects or the signal aborts. Then interrupts calls in progress, and returns when they have ended. */
export async function serveTools({ input, output, closing }: ServerProcess): Promise<void> {
  const server = new McpServer({ name: 'self-heal', version: readOwnVersion() });
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();
  for (const [name, tool] of Object.entries(tools)) {
    const { description, isReadOnly } = tool;
    const config = {
      description,
      inputSchema: { ...tool.input, cursor },
      outputSchema: { ...tool.output, text, nextCursor },
      annotations: { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly, openWorldHint: !isReadOnly },
    };
    server.registerTool(name, config, (args: Record<string, unknown>, extra: Extra) => {
      const signal = AbortSignal.any([extra.signal, ending.signal, closing]);
      const call = callTool(tool, args, { signal, onEvent: createProgressReporter(extra) });
      running.add(call);
      return call.finally(() => running.delete(call));
    });
  }
  const closed = new Promise<void>((resolve) => {
    if (closing.aborted) resolve();
    else closing.addEventListener('abort', () => resolve(), { once: true });
  });
  const refuse = (id: string | number | null, message: string) => {
    const error = { code: ErrorCode.InvalidRequest, message };
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
  };
  const messages = dropLongMessages(input, refuse);
  const transport = new StdioServerTransport(messages, output);
  const disconnected = new Promise<void>((resolve) => {
    // The transport does not know the id of an unreadable message.
    Object.assign(transport, { onerror: ({ message }: Error) => refuse(null, message), onclose: resolve });
  });
  await server.connect(transport);
  await Promise.race([closed, disconnected]);
  // Answers the messages that a client sent before it disconnected.
  if (input.readableEnded) await Promise.race([finished(messages).then(() => setImmediate()), disconnected]);
  ending.abort();
  await Promise.allSettled(running);
  await server.close();
}

/** Runs a tool, or returns the next page of an earlier answer. */
async function callTool(
  { run, rebuild }: Tool,
  { cursor: text, ...args }: Record<string, unknown>,
  host: ToolHost,
): Promise<CallToolResult> {
  const cursor = parseCursor(typeof text === 'string' ? text : undefined);
  if (typeof text === 'string' && cursor === null) return createErrorResult(invalidCursor);
  const result = await (cursor !== null && rebuild ? rebuild(cursor.runId) : run(args, host));
  return result.ok ? createPage(result.value, cursor) : createErrorResult(result.error);
}

const invalidCursor: Problem = {
  kind: 'usage',
  message: 'the cursor is invalid',
  remedy: 'Use nextCursor of the last answer, or none.',
};

function createErrorResult(problem: Problem): CallToolResult {
  const { detail, ...rest } = problem;
  const quoted = detail === undefined ? '' : `\n\n${dataNotice}\n\n${fenced(detail)}`;
  return { isError: true, content: [{ type: 'text', text: redact(`${formatProblem(rest)}${quoted}`) }] };
}

function createPage({ data, text, runId = '' }: ToolAnswer, cursor: Cursor | null): CallToolResult {
  const pages = splitPages(text);
  const page = Math.min(cursor?.page ?? 0, pages.length - 1);
  const next = page + 1 < pages.length ? formatCursor({ runId, page: page + 1 }) : null;
  const pageNote =
    next === null ? '' : `\n\nPage ${page + 1} of ${pages.length}; for the next one, pass cursor ${next}`;
  const content = `${pages[page] ?? ''}${pageNote}`;
  return {
    content: [{ type: 'text', text: content }],
    structuredContent: { ...data, text: content, ...(next === null ? {} : { nextCursor: next }) },
  };
}

/** The minimum interval between reports about single tests, in milliseconds. */
const PROGRESS_MS = 500;

/** Creates a listener that reports the progress of a run, as log lines, to a client that requested it. */
function createProgressReporter({ _meta, sendNotification }: Extra): (event: Event) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  const paint = choosePalette({ NO_COLOR: '1' });
  let progress = 0;
  let reportedAt = 0;
  return (event) => {
    const isTest = event.type === 'suite.progress';
    if (isTest && event.time - reportedAt < PROGRESS_MS) return;
    const message = isTest
      ? `${event.done}/${event.total} ${event.test}`
      : formatEvent(event, paint).join('\n');
    if (message === '') return;
    progress += 1;
    reportedAt = event.time;
    const params = { progressToken, progress, message: truncate(message, 1_000) };
    // A disconnected client needs no progress.
    sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
