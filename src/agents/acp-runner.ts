import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  client,
  type ClientContext,
  type ContentBlock,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { RunnerSettings } from '../model/settings.js';
import { readOwnVersion } from '../own-files.js';
import { pathInside } from '../paths.js';
import { reasonOf } from '../problem.js';
import {
  listFiles,
  isEditCall,
  chooseOption,
  resolveInCopy,
  type EditPolicy,
  explainRefusal,
  type ToolCall,
} from './acp-policy.js';
import { openWire } from './acp-wire.js';
import { findAgentError, createLoginError } from './agent-error.js';
import { findClaim, readOpinion } from './claim.js';
import { locateCommandFile } from './command-files.js';
import { expandCommand, splitCommand } from './expand-command.js';
import { createAcpEnvironment } from './programs.js';
import {
  type AgentResult,
  type AgentTask,
  createShortPrompt,
  type Conversation,
  type AgentListener,
  noUsage,
  type Runner,
} from './runner.js';

type AcpSettings = Extract<RunnerSettings, { kind: 'acp' }>;

/** Drives any program that speaks the Agent Client Protocol. */
export function createAcpRunner(settings: AcpSettings): Runner {
  const [file = '', ...args] = settings.command;
  return {
    createCommand: () => ({ file, args, ...createAcpEnvironment(settings.program), input: '' }),
    converse: (task, listener) => converse(task, settings, listener),
  };
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;
/** Only the end of the messages is kept, where the completion signal is. */
const MAX_MESSAGE_CHARACTERS = 256 * 1024;
/** How much of a long line is logged. */
const MAX_LINE_CHARACTERS = 16 * 1024;
/** How long to wait at the start of a session for the program's list of slash commands. */
const COMMANDS_MS = 1000;

/** How often a program that ended its turn after a refusal is told to continue. */
const MAX_MORE_TURNS = 5;
const GO_ON =
  'That is not allowed here: you may read and edit files in the project, and nothing else. Continue without it, and finish as instructed.';

const helloShape = z.object({
  protocolVersion: z.number(),
  agentCapabilities: z
    .object({
      loadSession: z.boolean().catch(false),
      promptCapabilities: z.object({ image: z.boolean().catch(false) }).catch({ image: false }),
      sessionCapabilities: z.object({ resume: z.unknown().optional() }).catch({ resume: null }),
    })
    .catch({
      loadSession: false,
      promptCapabilities: { image: false },
      sessionCapabilities: { resume: null },
    }),
  authMethods: z
    .array(z.object({ name: z.string(), description: z.string().nullish().catch(null) }))
    .catch([]),
});
type Hello = z.infer<typeof helloShape>;

/** Opens the conversation. A program with a different protocol version may send any answer. */
async function sayHello(agent: ClientContext): Promise<Hello | string> {
  const answer: unknown = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
    clientInfo: { name: 'self-heal', version: readOwnVersion() },
  });
  const hello = helloShape.safeParse(answer).data;
  if (hello?.protocolVersion === PROTOCOL_VERSION) return hello;
  return `it speaks version ${hello?.protocolVersion ?? 'unknown'} of the Agent Client Protocol, not ${PROTOCOL_VERSION}`;
}

/** Returns the program's own description of how to log in; null if there is none. */
function describeLogins({ authMethods }: Hello): string | null {
  const names = authMethods.map(({ name, description }) => (description ? `${name} (${description})` : name));
  return names.length === 0 ? null : `Log in: ${names.join(', or ')}.`;
}

/** Whether a program's error means that it needs a login. */
function isAuthRequired(error: unknown): boolean {
  return error instanceof RequestError && error.code === -32_000;
}

const textShape = z.object({ type: z.literal('text'), text: z.string() });
const diffShape = z.object({ type: z.literal('diff'), path: z.string(), newText: z.string() });
const callShape = z.object({
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
type Update = z.infer<typeof updateShape>;

/** Updates of other shapes are not needed. */
const updateParams = z.object({ update: updateShape });

const tokens = z.number().nullish().catch(null);
const answerShape = z.object({
  stopReason: z.string().catch(''),
  usage: z.object({ inputTokens: tokens, outputTokens: tokens }).nullish().catch(null),
  // Where Gemini CLI reports it.
  _meta: z
    .object({
      quota: z.object({ token_count: z.object({ input_tokens: tokens, output_tokens: tokens }) }),
    })
    .nullish()
    .catch(null),
});

const verbs: Readonly<Record<string, string>> = {
  read: 'reading',
  edit: 'editing',
  delete: 'deleting',
  move: 'moving',
  search: 'searching',
  execute: 'running',
  fetch: 'fetching',
};

/** Describes a call in a few words: `editing src/orders.ts:36`; returns an empty string while only its tool is known. */
function describeCall(call: ToolCall, { root }: EditPolicy): string {
  const verb = verbs[call.kind ?? ''];
  const title = call.title ?? 'a tool';
  const [file] = listFiles(call);
  if (file === undefined && /^\w+$/.test(title)) return '';
  if (verb === undefined || (file === undefined && title.toLowerCase().startsWith(verb))) return title;
  if (file === undefined || call.kind === 'execute') return `${verb} ${title}`;
  const line = call.locations?.[0]?.line;
  return `${verb} ${pathInside(root, file) ?? file}${line ? `:${line}` : ''}`;
}

/** Holds the conversation with a program until its turn is over. */
function converse(task: AgentTask, settings: AcpSettings, listener: AgentListener): Conversation {
  const root = task.copyOf?.root ?? task.cwd;
  const policy: EditPolicy = { root, cwd: task.cwd, allow: settings.allow ?? [] };
  const runner = task.agent.runner;
  const calls = new Map<string, ToolCall & { words?: string }>();
  const usage: { -readonly [Name in keyof typeof noUsage]: (typeof noUsage)[Name] } = { ...noUsage };
  const denials: string[] = [];
  let state: 'starting' | 'at work' | 'over' = 'starting';
  let costBefore = 0;
  let isRefused = false;
  let messages = '';
  let final = '';
  let line = '';
  let error: AgentResult['error'] = null;
  let isUnfinished = true;
  let commands: readonly string[] | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  const over = new AbortController();
  const commandsListed = new AbortController();

  const wire = openWire({
    onText: (text) => listener.note(text),
    onNotification: (method, params) => {
      const update =
        method === methods.client.session.update ? updateParams.safeParse(params).data : undefined;
      if (update) onUpdate(update.update);
    },
    onBroken: fail,
  });

  function fail(why: string, failure: AgentResult['error'] = null): void {
    if (state === 'over') return;
    listener.note(`self-heal: ${why}`);
    error = failure;
    end();
    listener.stop();
  }

  function end(): void {
    endLine();
    state = 'over';
    over.abort();
  }

  function endLine(): void {
    if (line.trim() !== '') listener.show(line);
    line = '';
  }

  function say(text: string): void {
    messages = `${messages}${text}`.slice(-MAX_MESSAGE_CHARACTERS);
    final = `${final}${text}`.slice(-MAX_MESSAGE_CHARACTERS);
    const [first = '', ...more] = text.split('\n');
    line = `${line}${first}`.slice(0, MAX_LINE_CHARACTERS);
    for (const next of more) {
      endLine();
      line = next.slice(0, MAX_LINE_CHARACTERS);
    }
  }

  function onUpdate(update: Update): void {
    if (update.sessionUpdate === 'available_commands_update') {
      commands = update.availableCommands.map(({ name }) => name.replace(/^\//, ''));
      commandsListed.abort();
    }
    if (update.sessionUpdate === 'usage_update') onUsage(update.cost);
    // A resumed session sends its history first.
    if (state !== 'at work') return;
    if (update.sessionUpdate === 'agent_message_chunk') say(update.content.text);
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      // Text before a call is no part of the answer.
      if (update.sessionUpdate === 'tool_call') [messages, final] = [`${messages}\n`, ''];
      onCall(update, update.status === 'failed');
    }
    if (update.sessionUpdate === 'plan') listener.show(describePlan(update.entries));
  }

  /** Takes the cost of the whole session, which may include an earlier attempt and may arrive after the answer. */
  function onUsage(cost: { readonly amount: number; readonly currency: string } | null | undefined): void {
    if (cost?.currency !== 'USD') return;
    if (state === 'starting') costBefore = cost.amount;
    else usage.costUsd = cost.amount - costBefore;
  }

  function onCall({ toolCallId, ...now }: z.infer<typeof callShape>, hasFailed = false): ToolCall {
    endLine();
    const before = calls.get(toolCallId) ?? {};
    const call: ToolCall & { words?: string } = {
      title: now.title ?? before.title ?? null,
      kind: now.kind && now.kind !== 'other' ? now.kind : (before.kind ?? now.kind ?? null),
      // A later message may omit locations that an earlier one had.
      locations: [...(now.locations ?? []), ...(before.locations ?? [])],
      content: [...(now.content ?? []), ...(before.content ?? [])],
      rawInput: { ...Object(before.rawInput), ...Object(now.rawInput) } as unknown,
    };
    const words = describeCall(call, policy);
    if (words !== before.words && words !== '') listener.show(words);
    if (hasFailed) listener.note(`failed: ${words}`);
    calls.set(toolCallId, { ...call, words });
    return call;
  }

  function endedAfterRefusal(): boolean {
    return isRefused && state === 'at work' && !hasAnswered();
  }

  function hasAnswered(): boolean {
    return (
      findClaim(messages) !== null || (task.token !== undefined && readOpinion(final, task.token) !== null)
    );
  }

  function refuse(call: ToolCall, why: string): void {
    const words = describeCall(call, policy) || (call.title ?? 'a tool');
    listener.note(`refused: ${words} (${why})`);
    isRefused = true;
    if (isEditCall(call)) denials.push(words);
  }

  function answerPermissionRequest({
    toolCall,
    options,
  }: RequestPermissionRequest): RequestPermissionResponse {
    const cancelled = { outcome: { outcome: 'cancelled' } } as const;
    if (state !== 'at work') return cancelled;
    const call = onCall(callShape.parse(toolCall));
    const why = explainRefusal(call, policy);
    if (why !== null) refuse(call, why);
    const option = chooseOption(why === null, options);
    if (why === null && !option) refuse(call, 'its program offers no permission for a single call');
    return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : cancelled;
  }

  /** Returns the path of a file that the program asks self-heal to read or write; throws if it is outside of the copy. */
  function resolvePermitted(kind: 'read' | 'edit', file: string): string {
    if (state !== 'at work') throw RequestError.invalidRequest(undefined, 'The turn is over.');
    const place = resolveInCopy(file, policy);
    if (place !== null) return place;
    refuse({ kind, locations: [{ path: file }] }, 'it is outside of its copy');
    throw RequestError.invalidParams(undefined, `${file} is outside of the project`);
  }

  const app = client({ name: 'self-heal' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => answerPermissionRequest(params))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({
      content: readLines(resolvePermitted('read', params.path), params),
    }))
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      // Synchronous, because nothing may be written after the end of the turn.
      const place = resolvePermitted('edit', params.path);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, params.content);
    });

  async function createPrompt({ agentCapabilities }: Hello): Promise<ContentBlock[] | null> {
    let text = task.prompt;
    const { command } = splitCommand(text);
    if (command.startsWith('/')) {
      if (commands === null)
        await delay(COMMANDS_MS, undefined, {
          signal: AbortSignal.any([commandsListed.signal, over.signal]),
        }).catch(() => undefined);
      if (commands?.includes(command.slice(1))) text = createShortPrompt(task);
      else {
        const { cwd } = task;
        const expanded = await expandCommand(settings.program, text, {
          cwd,
          clean: (secret) => listener.clean(secret),
        });
        if (expanded === null) {
          const remedy = `Create it as ${locateCommandFile(settings.program, command)}, or set another one in agents.yaml.`;
          const reason = `the slash command ${command} does not exist for ${runner}`;
          fail(reason, { kind: 'unusable', reason, remedy });
          return null;
        }
        text = expanded;
      }
    }
    const image = agentCapabilities.promptCapabilities.image ? readImage(task.screenshot) : [];
    return [{ type: 'text', text }, ...image];
  }

  async function openSession(agent: ClientContext, { agentCapabilities }: Hello): Promise<string> {
    const { resume } = task;
    const place = { cwd: task.cwd, mcpServers: [] };
    if (!resume || !(agentCapabilities.loadSession || agentCapabilities.sessionCapabilities.resume))
      return z.object({ sessionId: z.string() }).parse(await agent.request(methods.agent.session.new, place))
        .sessionId;
    const method = agentCapabilities.sessionCapabilities.resume
      ? methods.agent.session.resume
      : methods.agent.session.load;
    try {
      await agent.request(method, { ...place, sessionId: resume });
    } catch (error) {
      if (isAuthRequired(error) || !(error instanceof RequestError)) throw error;
      // Each program words this error differently.
      throw new RequestError(error.code, `session not found: ${error.message}`, error.data);
    }
    return resume;
  }

  let cancelTurn = () => Promise.resolve();

  async function runTurns(agent: ClientContext): Promise<void> {
    let login: string | null = null;
    try {
      const hello = await sayHello(agent);
      if (typeof hello === 'string') {
        const remedy = 'Install a version of the program that does, or name another runner in agents.yaml.';
        return fail(hello, { kind: 'unusable', reason: `${runner}: ${hello}`, remedy });
      }
      login = describeLogins(hello);
      const sessionId = await openSession(agent, hello);
      usage.sessionId = sessionId;
      const prompt = await createPrompt(hello);
      if (prompt === null || state === 'over') return;
      cancelTurn = () => agent.notify(methods.agent.session.cancel, { sessionId });
      state = 'at work';
      const ask = async (blocks: ContentBlock[]) => {
        isRefused = false;
        turn = agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks });
        return answerShape.parse(await turn);
      };
      let answer = await ask(prompt);
      // Some programs end their turn after a refusal.
      for (let more = 0; more < MAX_MORE_TURNS && endedAfterRefusal(); more += 1)
        answer = await ask([{ type: 'text', text: GO_ON }]);
      const counts = answer._meta?.quota.token_count;
      usage.inputTokens = answer.usage?.inputTokens ?? counts?.input_tokens ?? null;
      usage.outputTokens = answer.usage?.outputTokens ?? counts?.output_tokens ?? null;
      if (state !== 'at work') return;
      error = interpretStop(answer.stopReason, runner);
      // Copilot CLI reports an error of its provider as its answer.
      if (calls.size === 0 && !hasAnswered()) error ??= findAgentError(final, runner);
      isUnfinished = false;
      end();
      wire.input.end();
      listener.finish();
    } catch (problem) {
      onProblem(problem, login);
    }
  }

  function onProblem(problem: unknown, login: string | null): void {
    if (!(problem instanceof RequestError)) return fail(reasonOf(problem));
    const text = `${problem.message} ${toText(problem.data)}`.trim();
    fail(
      text,
      isAuthRequired(problem) ? createLoginError(text, runner, login) : findAgentError(text, runner),
    );
  }

  const connection = app.connect(wire.stream);
  void runTurns(connection.agent);
  return {
    input: wire.input,
    write: (chunk) => wire.write(chunk),
    cancel: async () => {
      const wasWorking = state === 'at work';
      if (state !== 'over') end();
      if (!wasWorking) return;
      await cancelTurn().catch(() => undefined);
      await Promise.race([turn.catch(() => undefined), connection.closed]);
    },
    close: () => {
      if (state !== 'over') end();
      wire.close();
      connection.close();
    },
    result: () => ({ claim: findClaim(messages), final, usage, denials, error, isUnfinished }),
  };
}

const doNothing = () => undefined;

/** Opens a session without a prompt, to find out whether the program needs a login. */
export function tryLogin(cwd: string) {
  const wire = openWire({ onText: doNothing, onNotification: doNothing, onBroken: doNothing });
  const connection = client({ name: 'self-heal' }).connect(wire.stream);
  const ask = async () => {
    const hello = await sayHello(connection.agent);
    if (typeof hello === 'string') return { state: 'unknown', why: hello } as const;
    try {
      await connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
      return { state: 'in', how: 'it opens a session' } as const;
    } catch (error) {
      if (!isAuthRequired(error)) throw error;
      const remedy = describeLogins(hello);
      return { state: 'out', ...(remedy === null ? {} : { remedy }) } as const;
    }
  };
  return {
    ...wire,
    login: ask(),
    close: () => {
      wire.close();
      connection.close();
    },
  };
}

/** Returns the error that a stop reason means; null for a complete turn. The edits before an incomplete end may still be a fix. */
function interpretStop(stopReason: string, runner: string): AgentResult['error'] {
  switch (stopReason) {
    case 'end_turn':
      return null;
    case 'max_tokens':
      return { kind: 'context-overflow', reason: `${runner}: its turn reached the limit of tokens` };
    case 'refusal':
      return { kind: 'limited', reason: `${runner}: its model refused` };
    case 'cancelled':
      return { kind: 'limited', reason: `${runner}: it cancelled its own turn` };
    default:
      return { kind: 'limited', reason: `${runner}: ${stopReason || 'its turn ended without a reason'}` };
  }
}

function describePlan(entries: readonly { readonly content: string; readonly status: string }[]): string {
  const completed = entries.filter(({ status }) => status === 'completed').length;
  const current = entries.find(({ status }) => status === 'in_progress') ?? entries[completed];
  return `plan ${completed}/${entries.length}${current ? `: ${current.content}` : ''}`;
}

/** Returns the requested lines of a file. */
function readLines(file: string, { line, limit }: { line?: number | null; limit?: number | null }): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw RequestError.resourceNotFound(file);
  if (stats.size > MAX_FILE_BYTES) throw RequestError.invalidParams(undefined, `${file} is too large`);
  const text = readFileSync(file, 'utf8');
  if (line == null && limit == null) return text;
  const first = Math.max(0, (line ?? 1) - 1);
  return text
    .split('\n')
    .slice(first, limit == null ? undefined : first + limit)
    .join('\n');
}

function readImage(screenshot: string | null): ContentBlock[] {
  const stats = screenshot === null ? undefined : statSync(screenshot, { throwIfNoEntry: false });
  if (screenshot === null || !stats?.isFile() || stats.size > MAX_IMAGE_BYTES) return [];
  const mimeType = screenshot.endsWith('.png') ? 'image/png' : 'image/jpeg';
  return [{ type: 'image', mimeType, data: readFileSync(screenshot).toString('base64') }];
}

function toText(data: unknown): string {
  if (data === undefined || data === null) return '';
  return typeof data === 'string' ? data : JSON.stringify(data);
}
