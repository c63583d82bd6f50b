import type { z } from 'zod';
import { pathInside } from '../paths.js';
import type { callShape, Update } from './acp-messages.js';
import { listCallFiles, type ToolCall } from './acp-policy.js';
import type { AgentListener } from './runner.js';

/** How much of a program's messages to keep: their end, where the completion signal is. */
const MAX_MESSAGE_CHARACTERS = 256 * 1024;
/** How much of a long line to log. */
const MAX_LINE_CHARACTERS = 16 * 1024;

/** The work that a program has reported: its messages and its tool calls. Each line and each call is logged and shown. */
export interface AcpProgress {
  /** All of its messages. */
  readonly messages: string;
  /** Its messages after its last call. */
  readonly finalMessage: string;
  readonly hasCalls: boolean;
  readUpdate(update: Update): void;
  /** Adds the parts of a call that a message has; returns the call so far. */
  updateCall(call: z.infer<typeof callShape>): ToolCall;
  /** Shows the last line, although it may not be complete. */
  endLine(): void;
}

/** Starts recording a program's progress. Shown paths are relative to `root`. */
export function recordProgress(root: string, listener: AgentListener): AcpProgress {
  const calls = new Map<string, ToolCall & { readonly description: string }>();
  let messages = '';
  let finalMessage = '';
  let line = '';

  function show(text: string): void {
    listener.log(text);
    listener.show(text);
  }

  function endLine(): void {
    if (line.trim() !== '') show(line);
    line = '';
  }

  function appendMessage(text: string): void {
    messages = `${messages}${text}`.slice(-MAX_MESSAGE_CHARACTERS);
    finalMessage = `${finalMessage}${text}`.slice(-MAX_MESSAGE_CHARACTERS);
    const [first = '', ...nextLines] = text.split('\n');
    line = `${line}${first}`.slice(0, MAX_LINE_CHARACTERS);
    for (const next of nextLines) {
      endLine();
      line = next.slice(0, MAX_LINE_CHARACTERS);
    }
  }

  function updateCall({ toolCallId, status, ...now }: z.infer<typeof callShape>): ToolCall {
    endLine();
    const before = calls.get(toolCallId);
    const call: ToolCall = {
      title: now.title ?? before?.title ?? null,
      kind: now.kind && now.kind !== 'other' ? now.kind : (before?.kind ?? now.kind ?? null),
      // A later message may omit locations that an earlier one had.
      locations: [...(now.locations ?? []), ...(before?.locations ?? [])],
      content: [...(now.content ?? []), ...(before?.content ?? [])],
      rawInput: { ...Object(before?.rawInput), ...Object(now.rawInput) } as unknown,
    };
    const description = describeCall(call, root);
    if (description !== before?.description && description !== '') show(description);
    if (status === 'failed') listener.log(`failed: ${description}`);
    calls.set(toolCallId, { ...call, description });
    return call;
  }

  return {
    get messages() {
      return messages;
    },
    get finalMessage() {
      return finalMessage;
    },
    get hasCalls() {
      return calls.size > 0;
    },
    readUpdate: (update) => {
      if (update.sessionUpdate === 'agent_message_chunk') appendMessage(update.content.text);
      if (update.sessionUpdate === 'plan') show(describePlan(update.entries));
      // Text before a call is not part of the answer.
      if (update.sessionUpdate === 'tool_call') [messages, finalMessage] = [`${messages}\n`, ''];
      if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update')
        updateCall(update);
    },
    updateCall,
    endLine,
  };
}

const verbs: Readonly<Record<string, string>> = {
  read: 'reading',
  edit: 'editing',
  delete: 'deleting',
  move: 'moving',
  search: 'searching',
  execute: 'running',
  fetch: 'fetching',
};

/** Describes a call in a few words: `editing src/orders.ts:36`; returns an empty string while only the name of its tool is known. */
export function describeCall(call: ToolCall, root: string): string {
  const verb = verbs[call.kind ?? ''];
  const title = call.title ?? 'a tool';
  const [file] = listCallFiles(call);
  if (file === undefined && /^\w+$/.test(title)) return '';
  if (verb === undefined || (file === undefined && title.toLowerCase().startsWith(verb))) return title;
  if (file === undefined || call.kind === 'execute') return `${verb} ${title}`;
  const line = call.locations?.[0]?.line;
  return `${verb} ${pathInside(root, file) ?? file}${line ? `:${line}` : ''}`;
}

/** Describes a plan by its number of completed steps and its current step. */
function describePlan(entries: readonly { readonly content: string; readonly status: string }[]): string {
  const completed = entries.filter(({ status }) => status === 'completed').length;
  const current = entries.find(({ status }) => status === 'in_progress') ?? entries[completed];
  return `plan ${completed}/${entries.length}${current ? `: ${current.content}` : ''}`;
}
