import { type ClientContext, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { readOwnVersion } from '../own-files.js';
import type { AgentResult } from './runner.js';

// These shapes accept more than the protocol: a program that gets one field wrong can still be understood.

const capabilities = z.object({
  loadSession: z.boolean().catch(false),
  promptCapabilities: z.object({ image: z.boolean().catch(false) }).catch({ image: false }),
  sessionCapabilities: z.object({ resume: z.unknown().optional() }).catch({ resume: null }),
});
const initializeShape = z.object({
  protocolVersion: z.number(),
  agentCapabilities: capabilities.catch(() => capabilities.parse({})),
  authMethods: z
    .array(z.object({ name: z.string(), description: z.string().nullish().catch(null) }))
    .catch([]),
});

/** A program's response to `initialize`. */
export type InitializeResponse = z.infer<typeof initializeShape>;

/** Opens the conversation; returns the reason if that is impossible. A program with a different protocol version may send any response. */
export async function initializeAgent(agent: ClientContext): Promise<InitializeResponse | string> {
  const answer: unknown = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
    clientInfo: { name: 'self-heal', version: readOwnVersion() },
  });
  const response = initializeShape.safeParse(answer).data;
  if (response?.protocolVersion === PROTOCOL_VERSION) return response;
  return `it speaks version ${response?.protocolVersion ?? 'unknown'} of the Agent Client Protocol, not ${PROTOCOL_VERSION}`;
}

/** Returns the program's own login instructions; null if there are none. */
export function describeLogins({ authMethods }: InitializeResponse): string | null {
  const names = authMethods.map(({ name, description }) => (description ? `${name} (${description})` : name));
  return names.length === 0 ? null : `Log in: ${names.join(', or ')}.`;
}

/** True if a program's error means that it needs a login. */
export function isAuthRequired(error: unknown): boolean {
  return error instanceof RequestError && error.code === -32_000;
}

/** Returns the text of a program's error, with its details. */
export function formatRequestError({ message, data }: RequestError): string {
  const details = z.object({ details: z.string() }).safeParse(data).data?.details ?? data ?? '';
  return `${message} ${typeof details === 'string' ? details : JSON.stringify(details)}`.trim();
}

const textShape = z.object({ type: z.literal('text'), text: z.string() });
const diffShape = z.object({ type: z.literal('diff'), path: z.string(), newText: z.string() });

/** A tool call, in a message about its progress or in a request for permission. */
export const callShape = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  status: z.string().nullish(),
  kind: z
    .enum(['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'])
    .nullish()
    .catch(null),
  locations: z
    .array(z.object({ path: z.string(), line: z.number().nullable().default(null) }))
    .nullish()
    .catch(null),
  rawInput: z.unknown().optional(),
  content: z
    .array(z.unknown())
    .transform((parts) => parts.flatMap((part) => diffShape.safeParse(part).data ?? []))
    .nullish()
    .catch(null),
});

const updateShape = z.discriminatedUnion('sessionUpdate', [
  z.object({ sessionUpdate: z.literal('agent_message_chunk'), content: textShape }),
  callShape.extend({ sessionUpdate: z.literal('tool_call') }),
  callShape.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.object({
    sessionUpdate: z.literal('plan'),
    entries: z.array(z.object({ content: z.string(), status: z.string() })),
  }),
  z.object({
    sessionUpdate: z.literal('available_commands_update'),
    availableCommands: z.array(z.object({ name: z.string() })),
  }),
  z.object({
    sessionUpdate: z.literal('usage_update'),
    cost: z.object({ amount: z.number(), currency: z.string() }).nullish(),
  }),
]);

/** A message about the progress of a session. */
export type Update = z.infer<typeof updateShape>;

/** Reads a notification as a message about a session's progress; null if it is not one. */
export function readUpdate(method: string, params: unknown): Update | null {
  if (method !== methods.client.session.update) return null;
  return z.object({ update: updateShape }).safeParse(params).data?.update ?? null;
}

const tokenCount = z.number().nullish().catch(null);
const answerShape = z.object({
  stopReason: z.string().catch(''),
  usage: z.object({ inputTokens: tokenCount, outputTokens: tokenCount }).nullish().catch(null),
  // Gemini CLI reports the usage here.
  _meta: z
    .object({
      quota: z.object({ token_count: z.object({ input_tokens: tokenCount, output_tokens: tokenCount }) }),
    })
    .nullish()
    .catch(null),
});

/** Reads the end of a turn: why it ended, and the tokens that the program counted. */
export function readTurnEnd(answer: unknown) {
  const { stopReason, usage, _meta: meta } = answerShape.parse(answer);
  const counts = meta?.quota.token_count;
  return {
    stopReason,
    inputTokens: usage?.inputTokens ?? counts?.input_tokens ?? null,
    outputTokens: usage?.outputTokens ?? counts?.output_tokens ?? null,
  };
}

/** Returns the error that a stop reason means; null for a complete turn. The edits of an incomplete turn may still be a fix. */
export function findStopError(stopReason: string, runner: string): AgentResult['error'] {
  switch (stopReason) {
    case 'end_turn':
      return null;
    case 'max_tokens':
      return { kind: 'context-overflow', reason: `${runner}: its turn reached the token limit` };
    case 'refusal':
      return { kind: 'limited', reason: `${runner}: its model refused to answer` };
    case 'cancelled':
      return { kind: 'limited', reason: `${runner}: it cancelled its own turn` };
    default:
      return { kind: 'limited', reason: `${runner}: ${stopReason || 'its turn ended without a reason'}` };
  }
}
