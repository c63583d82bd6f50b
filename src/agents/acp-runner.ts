import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  client,
  type ClientContext,
  type ContentBlock,
  methods,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { AgentUsage } from '../model/attempt.js';
import type { RunnerSettings } from '../model/settings.js';
import { describeError } from '../problem.js';
import {
  callShape,
  describeLogins,
  formatRequestError,
  type InitializeResponse,
  initializeAgent,
  findStopError,
  isAuthRequired,
  readTurnEnd,
  readUpdate,
  type Update,
} from './acp-messages.js';
import {
  chooseOption,
  type AccessPolicy,
  explainRefusal,
  isEditCall,
  resolveInCopy,
  type ToolCall,
} from './acp-policy.js';
import { describeCall, recordProgress } from './acp-progress.js';
import { openWire } from './acp-wire.js';
import { createLoginError, findAgentError } from './agent-error.js';
import { findClaim, findOpinion } from './claim.js';
import { locateCommandFile } from './command-files.js';
import { expandCommand, splitCommand } from './expand-command.js';
import { describeProgram } from './programs.js';
import {
  type AgentListener,
  type AgentResult,
  type AgentTask,
  type Conversation,
  createShortPrompt,
  noUsage,
  type Runner,
} from './runner.js';

type AcpSettings = Extract<RunnerSettings, { kind: 'acp' }>;

/** Drives any program that speaks the Agent Client Protocol. */
export function createAcpRunner(settings: AcpSettings): Runner {
  const [file = '', ...args] = settings.command;
  const { passedVariables, env } = describeProgram(settings.program);
  return {
    createCommand: () => ({ file, args, env, passedVariables, input: '' }),
    openConversation: (task, listener) => createConversation(task, settings, listener),
  };
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_IMAGE_BYTES = 4 * 1024 * 1024;
const MAX_REASON_CHARACTERS = 300;
/** How long to wait at the start of a session for the program's list of slash commands. */
const COMMANDS_MS = 1000;

/** How often to ask a program to continue if it ends its turn after a refusal. */
const MAX_EXTRA_TURNS = 5;
const CONTINUE_PROMPT =
  'That is not allowed here: you may read and edit files in the project, and nothing else. Continue without it, and finish as instructed.';

/** Holds the conversation with a program until its turn is over. */
function createConversation(task: AgentTask, settings: AcpSettings, listener: AgentListener): Conversation {
  const root = task.copyOf?.root ?? task.cwd;
  const policy: AccessPolicy = { root, cwd: task.cwd, allow: settings.allow ?? [] };
  const runner = task.agent.runner;
  const progress = recordProgress(root, listener);
  const denials: string[] = [];
  let state: 'starting' | 'at work' | 'over' = 'starting';
  let usage: AgentUsage = noUsage;
  let costBefore = 0;
  let wasRefused = false;
  let error: AgentResult['error'] = null;
  let isUnfinished = true;
  let commands: readonly string[] | null = null;
  const commandsListed = new AbortController();
  let turn: Promise<unknown> = Promise.resolve();

  const wire = openWire({
    onText: (text) => listener.log(text),
    onNotification: (method, params) => {
      const update = readUpdate(method, params);
      if (update) onUpdate(update);
    },
    onBroken: fail,
  });

  /** Ends the program, because its work can no longer succeed. */
  function fail(reason: string, failure: AgentResult['error'] = null): void {
    if (state === 'over') return;
    listener.log(`self-heal: ${reason}`);
    error = failure ?? {
      kind: 'exited',
      exitCode: 1,
      reason: `${runner}: ${reason.slice(0, MAX_REASON_CHARACTERS)}`,
    };
    endTurn();
    listener.stop();
  }

  function endTurn(): void {
    progress.endLine();
    state = 'over';
  }

  function onUpdate(update: Update): void {
    if (update.sessionUpdate === 'available_commands_update') {
      commands = update.availableCommands.map(({ name }) => name.replace(/^\//, ''));
      commandsListed.abort();
    }
    if (update.sessionUpdate === 'usage_update') onUsage(update.cost);
    // A resumed session sends its history first.
    if (state === 'at work') progress.readUpdate(update);
  }

  /** Records the cost of the whole session, which may include an earlier attempt and may arrive after the answer. */
  function onUsage(cost: { readonly amount: number; readonly currency: string } | null | undefined): void {
    if (cost?.currency !== 'USD') return;
    if (state === 'starting') costBefore = cost.amount;
    else usage = { ...usage, costUsd: cost.amount - costBefore };
  }

  function hasAnswered(): boolean {
    const { token } = task;
    return (
      findClaim(progress.messages) !== null ||
      (token !== undefined && findOpinion(progress.finalMessage, token) !== null)
    );
  }

  function refuse(call: ToolCall, why: string): void {
    const description = describeCall(call, root) || (call.title ?? 'a tool');
    listener.log(`refused: ${description} (${why})`);
    wasRefused = true;
    if (isEditCall(call)) denials.push(description);
  }

  function answerPermissionRequest({
    toolCall,
    options,
  }: RequestPermissionRequest): RequestPermissionResponse {
    const cancelled = { outcome: { outcome: 'cancelled' } } as const;
    if (state !== 'at work') return cancelled;
    const call = progress.updateCall(callShape.parse(toolCall));
    const why = explainRefusal(call, policy);
    if (why !== null) refuse(call, why);
    const option = chooseOption(why === null, options);
    if (why === null && !option) refuse(call, 'its program offers no permission for a single call');
    return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : cancelled;
  }

  /** Returns the path of a file that the program asks self-heal to read or write; throws if it is outside of the copy. */
  function resolvePermittedPath(kind: 'read' | 'edit', file: string): string {
    if (state !== 'at work') throw RequestError.invalidRequest(undefined, 'The turn is over.');
    const resolved = resolveInCopy(file, policy);
    if (resolved !== null) return resolved;
    refuse({ kind, locations: [{ path: file }] }, 'it is outside of its copy');
    throw RequestError.invalidParams(undefined, `${file} is outside of the project`);
  }

  const app = client({ name: 'self-heal' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => answerPermissionRequest(params))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({
      content: readLines(resolvePermittedPath('read', params.path), params),
    }))
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      // Synchronous, because nothing may be written after the end of the turn.
      const resolved = resolvePermittedPath('edit', params.path);
      mkdirSync(path.dirname(resolved), { recursive: true });
      writeFileSync(resolved, params.content);
    });

  /** Returns the prompt with its slash command expanded, unless the program expands it; null if the command does not exist. */
  async function expandPromptForProgram(): Promise<string | null> {
    const { command } = splitCommand(task.prompt);
    if (!command.startsWith('/')) return task.prompt;
    if (commands === null)
      await delay(COMMANDS_MS, undefined, { signal: commandsListed.signal }).catch(() => undefined);
    if (commands?.includes(command.slice(1))) return createShortPrompt(task);
    const clean = (text: string) => listener.clean(text);
    return expandCommand(settings.program, task.prompt, { cwd: task.cwd, clean });
  }

  async function createPrompt({ agentCapabilities }: InitializeResponse): Promise<ContentBlock[] | null> {
    const text = await expandPromptForProgram();
    if (text === null) {
      const { command } = splitCommand(task.prompt);
      const remedy = `Create it as ${locateCommandFile(settings.program, command)}, or set another one in agents.yaml.`;
      const reason = `the slash command ${command} does not exist for ${runner}`;
      fail(reason, { kind: 'unusable', reason, remedy });
      return null;
    }
    const image = agentCapabilities.promptCapabilities.image ? readImage(task.screenshot) : [];
    return [{ type: 'text', text }, ...image];
  }

  /** Opens a new session, or continues an earlier attempt's session; returns its id. */
  async function openSession(
    agent: ClientContext,
    { agentCapabilities }: InitializeResponse,
  ): Promise<string> {
    const { resume } = task;
    const { loadSession, sessionCapabilities } = agentCapabilities;
    const location = { cwd: task.cwd, mcpServers: [] };
    if (!resume || !(loadSession || sessionCapabilities.resume)) {
      const answer = await agent.request(methods.agent.session.new, location);
      return z.object({ sessionId: z.string() }).parse(answer).sessionId;
    }
    const method = sessionCapabilities.resume ? methods.agent.session.resume : methods.agent.session.load;
    try {
      await agent.request(method, { ...location, sessionId: resume });
    } catch (problem) {
      if (isAuthRequired(problem) || !(problem instanceof RequestError)) throw problem;
      // Each program words this error differently.
      throw new RequestError(problem.code, `session not found: ${problem.message}`, problem.data);
    }
    return resume;
  }

  let cancelTurn = () => Promise.resolve();

  async function runSession(agent: ClientContext): Promise<void> {
    let login: string | null = null;
    try {
      const response = await initializeAgent(agent);
      if (typeof response === 'string') {
        const remedy = 'Install another version of the program, or name another runner in agents.yaml.';
        return fail(response, { kind: 'unusable', reason: `${runner}: ${response}`, remedy });
      }
      login = describeLogins(response);
      const sessionId = await openSession(agent, response);
      usage = { ...usage, sessionId };
      const prompt = await createPrompt(response);
      if (prompt === null || state === 'over') return;
      cancelTurn = () => agent.notify(methods.agent.session.cancel, { sessionId });
      state = 'at work';
      const { stopReason, ...tokens } = await runTurns(agent, sessionId, prompt);
      usage = { ...usage, ...tokens };
      if (state === 'at work') finish(stopReason);
    } catch (problem) {
      if (!(problem instanceof RequestError)) return fail(describeError(problem));
      const text = formatRequestError(problem);
      const needsLogin = isAuthRequired(problem);
      fail(text, needsLogin ? createLoginError(text, runner, login) : findAgentError(text, runner));
    }
  }

  /** Sends the prompt. Asks a program that ends its turn after a refusal to continue. */
  async function runTurns(agent: ClientContext, sessionId: string, prompt: ContentBlock[]) {
    const runTurn = async (blocks: ContentBlock[]) => {
      wasRefused = false;
      turn = agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks });
      return readTurnEnd(await turn);
    };
    let end = await runTurn(prompt);
    for (let extra = 0; extra < MAX_EXTRA_TURNS; extra += 1) {
      if (!wasRefused || state !== 'at work' || hasAnswered()) break;
      end = await runTurn([{ type: 'text', text: CONTINUE_PROMPT }]);
    }
    return end;
  }

  function finish(stopReason: string): void {
    error = findStopError(stopReason, runner);
    // Copilot CLI reports a provider error as its answer.
    if (!progress.hasCalls && !hasAnswered()) error ??= findAgentError(progress.finalMessage, runner);
    isUnfinished = false;
    endTurn();
    wire.input.end();
    listener.finish();
  }

  const connection = app.connect(wire.stream);
  void runSession(connection.agent);
  return {
    protocol: {
      input: wire.input,
      write: (chunk) => wire.write(chunk),
      cancel: async () => {
        const wasWorking = state === 'at work';
        if (state !== 'over') endTurn();
        if (!wasWorking) return;
        await cancelTurn().catch(() => undefined);
        await Promise.race([turn.catch(() => undefined), connection.closed]);
      },
      close: () => {
        if (state !== 'over') endTurn();
        wire.close();
        connection.close();
      },
    },
    result: () => ({
      claim: findClaim(progress.messages),
      finalMessage: progress.finalMessage,
      usage,
      denials,
      error,
      isUnfinished,
    }),
  };
}

const doNothing = () => undefined;

/** Opens a session without a prompt, to find out whether the program needs a login. */
export function tryLogin(cwd: string) {
  const wire = openWire({ onText: doNothing, onNotification: doNothing, onBroken: doNothing });
  const connection = client({ name: 'self-heal' }).connect(wire.stream);
  const findLogin = async () => {
    const response = await initializeAgent(connection.agent);
    if (typeof response === 'string') return { state: 'unknown', why: response } as const;
    try {
      await connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
      return { state: 'in', how: 'it opens a session' } as const;
    } catch (error) {
      if (!isAuthRequired(error)) throw error;
      const remedy = describeLogins(response);
      return { state: 'out', ...(remedy === null ? {} : { remedy }) } as const;
    }
  };
  return {
    ...wire,
    login: findLogin(),
    close: () => {
      wire.close();
      connection.close();
    },
  };
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
