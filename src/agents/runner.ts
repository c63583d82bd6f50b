import type { Readable } from 'node:stream';
import type { AgentClaim, AgentEnd, AgentUsage, AgentRun } from '../model/attempt.js';
import type { RunnerSettings, AgentSettings } from '../model/settings.js';

/** One task for one agent process. */
export interface AgentTask {
  readonly agent: AgentSettings;
  readonly runner: RunnerSettings;
  /** The text for the program, as returned by `expandPrompt`; Markdown. */
  readonly prompt: string;
  readonly contextFile: string;
  readonly promptFile: string;
  /** A secret word with which the answer to this prompt must begin; absent if the prompt asks for no opinion. */
  readonly token?: string | undefined;
  readonly screenshot: string | null;
  /** The file for all output of the agent, up to a size limit. */
  readonly logFile: string;
  /** The agent's working directory. */
  readonly cwd: string;
  /** If `cwd` is a folder in a copy: the same folder in the project, and the root of the copy. */
  readonly copyOf?: { readonly project: string; readonly root: string };
  /** A folder in which only this agent works. Orphaned processes in it are ended with the agent. */
  readonly workDir?: string;
  readonly runId: string;
  readonly attempt: number;
  /** The session of an earlier attempt that the program should continue (AG-9). */
  readonly resume?: string | null;
  /** Aborts on interrupt. When the promise resolves, the agent and all processes that it started have ended. */
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
  /** Called with the agent's latest message or action. */
  readonly onActivity: (text: string) => void;
}

/** Runs an agent to its end. Never rejects because of the agent's behavior. */
export type RunAgent = (task: AgentTask) => Promise<AgentRun>;

/** How to start a program for a task. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  /** The names of the environment variables that it gets (`ANTHROPIC_*` matches several), or all of them. */
  readonly passedVariables: readonly string[] | 'everything';
}

/** A program's own account of its work and its errors. */
export interface AgentResult {
  readonly claim: AgentClaim | null;
  /** Its last message, which contains the answer to a question; all output of a program whose messages cannot be separated. */
  readonly finalMessage: string;
  readonly usage: AgentUsage;
  /** The edits that the program refused. */
  readonly denials: readonly string[];
  /** True if the program stopped before its work was complete; then even exit code 0 is no success. */
  readonly isUnfinished?: boolean;
  /** The program's own error, perhaps despite exit code 0; null if there is none. */
  readonly error: Extract<
    AgentEnd,
    { kind: 'completed' | 'unusable' | 'exited' | 'retryable' | 'context-overflow' | 'limited' }
  > | null;
}

/** One kind of coding-agent program: how to start it, and how to understand it. */
export interface Runner {
  createCommand(task: AgentTask): AgentCommand;
  /** Opens a conversation with a program: reads its output, and answers it if it expects more than its first input. */
  openConversation(task: AgentTask, listener: AgentListener): Conversation;
}

/** Receives the progress of a program. */
export interface AgentListener {
  /** Logs a line that is not in the program's output. */
  log(text: string): void;
  /** Shows a line as the agent's current activity. */
  show(text: string): void;
  /** Called when the work is done: the program may exit by itself; otherwise it is ended soon. */
  finish(): void;
  /** Called when success is no longer possible (endless retries, a full context): the program is ended. */
  stop(): void;
  /** Masks secrets in a text. */
  clean(text: string): string;
}

/** The stream to which a line was written. */
export type OutputStream = 'stdout' | 'stderr';

/** self-heal's side of the conversation with a program. */
export interface Conversation {
  /** Reads a line of output. */
  readonly readLine?: (line: string, from: OutputStream) => void;
  /** The channel to a program that speaks a protocol over its standard streams; its standard output is neither logged nor passed to `readLine`. */
  readonly protocol?: ProtocolChannel;
  /** Returns the result of all output. */
  readonly result: () => AgentResult;
}

/** A protocol over a program's standard input and output. */
export interface ProtocolChannel {
  /** The program's standard input. */
  readonly input: Readable;
  /** Reads a chunk of the program's standard output. */
  write(chunk: Buffer): void;
  /** Asks the program to stop its work; resolves when it has. */
  cancel(): Promise<void>;
  /** Ends the conversation; later requests from the program have no effect. */
  close(): void;
}

/** The usage of a program that reports none. */
export const noUsage: AgentUsage = {
  costUsd: null,
  inputTokens: null,
  outputTokens: null,
  turns: null,
  sessionId: null,
};

/**
 * Returns a one-line prompt for a program that expands slash commands; the prompt's file has the rest. Some programs join the lines of a command's
 * arguments, which breaks the prompt's blocks, and some pass them to the model twice.
 */
export function createShortPrompt({ prompt, promptFile }: Pick<AgentTask, 'prompt' | 'promptFile'>): string {
  return `${prompt.split('\n', 1)[0]} First read all of ${promptFile}: it describes the failure and the rules.`;
}

/** Returns the arguments that agents.yaml adds to a built-in program's own. */
export function readAddedArgs(runner: RunnerSettings): readonly string[] {
  return runner.kind === 'claude' || runner.kind === 'codex' ? (runner.args ?? []) : [];
}
