import type { Readable } from 'node:stream';
import type { AgentClaim, AgentEnd, AgentUsage, AgentRun } from '../model/attempt.js';
import type { RunnerSettings, AgentSettings } from '../model/settings.js';

/** One task for one agent process. */
export interface AgentTask {
  readonly agent: AgentSettings;
  readonly runner: RunnerSettings;
  /** The text that is sent to the program, as returned by `expandedPrompt`; Markdown. */
  readonly prompt: string;
  readonly contextFile: string;
  readonly promptFile: string;
  /** What only this prompt says, with which the answer to its question has to begin; absent if it asks for no opinion. */
  readonly token?: string | undefined;
  readonly screenshot: string | null;
  /** Receives everything that the agent writes, up to a size limit. */
  readonly logFile: string;
  /** The agent's working directory. */
  readonly cwd: string;
  /** If `cwd` is a folder in a copy: the same folder in the project, and the root of the copy. */
  readonly copyOf?: { readonly project: string; readonly root: string };
  /** A folder that only this agent works in. Processes in it that have lost their parent are ended with the agent. */
  readonly workDir?: string;
  readonly runId: string;
  readonly attempt: number;
  /** The session of an earlier attempt that the program should continue (AG-9). */
  readonly resume?: string | null;
  /** Aborts on interrupt; the agent and everything it started are gone when the promise resolves. */
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
  /** Called with the agent's latest message or action. */
  readonly onActivity: (text: string) => void;
}

/** Runs an agent to its end; never rejects because of anything that the agent does. */
export type RunAgent = (task: AgentTask) => Promise<AgentRun>;

/** How to start a program for a task. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  /** The environment variables it is given (`ANTHROPIC_*` matches several), or all of them. */
  readonly passes: readonly string[] | 'everything';
}

/** The stream that a line was written to. */
export type OutputStream = 'stdout' | 'stderr';

/** The meaning of a line: a short text to show, and whether the work is complete. */
export interface LineMeaning {
  readonly activity: string | null;
  readonly complete: boolean;
  /** Whether the program cannot succeed any more (its own retries, a full context), so that it is stopped immediately. */
  readonly hopeless?: boolean;
}

/** Interprets a program's output, line by line. */
export interface OutputReader {
  line(text: string, from: OutputStream): LineMeaning;
  /** Returns the result of all lines. */
  result(): AgentResult;
}

/** A program's own account of its work and its errors. */
export interface AgentResult {
  readonly claim: AgentClaim | null;
  /** Its last message, which answers the question of its prompt; of a program whose messages are not told apart, all that it printed. */
  readonly final: string;
  readonly usage: AgentUsage;
  /** The edits that the program refused. */
  readonly denials: readonly string[];
  /** Whether the program broke off before its work was complete, so that no exit code means success. */
  readonly isUnfinished?: boolean;
  /** The program's own error, which its exit code may not show; null if there is none. */
  readonly error: Extract<
    AgentEnd,
    { kind: 'completed' | 'unusable' | 'exited' | 'retryable' | 'context-overflow' | 'limited' }
  > | null;
}

/** One kind of coding-agent program: how to start it, and how to understand it. */
export interface Runner {
  command(task: AgentTask): AgentCommand;
  /** Reads a program that gets its whole task at its start. `token` marks the line that answers a prompt with a question. */
  reader?(token?: string): OutputReader;
  /** Talks to a program while it works. */
  converse?(task: AgentTask, listener: AgentListener): Conversation;
}

/** What a conversation tells of a program at work. */
export interface AgentListener {
  /** A line for the log. */
  note(text: string): void;
  /** A line for the log that is also shown as what the agent is doing. */
  show(text: string): void;
  /** The work is done: the program may end by itself, and is ended soon. */
  finish(): void;
  /** No success is possible any more: the program is ended. */
  stop(): void;
  /** Masks secrets in a text. */
  clean(text: string): string;
}

/** A conversation with a program over its standard input and output. */
export interface Conversation {
  /** What the program reads. */
  readonly input: Readable;
  /** Takes what the program wrote to its standard output. */
  write(chunk: Buffer): void;
  /** Asks the program to stop its work; resolves when it has. */
  cancel(): Promise<void>;
  /** Ends the conversation, after which nothing that the program has asked for is done. */
  close(): void;
  result(): AgentResult;
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
 * Returns a slash command in one line, for a program that expands it: some join the lines of the arguments, which breaks the prompt's blocks, and some give
 * them to the model twice. The prompt's file says the rest.
 */
export function commandLine({ prompt, promptFile }: Pick<AgentTask, 'prompt' | 'promptFile'>): string {
  return `${prompt.split('\n', 1)[0]} First read all of ${promptFile}: what failed, what is known about it, and the rules.`;
}

/** The meaning of a line without any. */
export const noMeaning: LineMeaning = { activity: null, complete: false };

/** The result of a program that nobody listens to. */
export const nothingSaid: AgentResult = { claim: null, final: '', usage: noUsage, denials: [], error: null };

/** Returns the arguments that agents.yaml adds to those of a built-in program. */
export function addedArgs(runner: RunnerSettings): readonly string[] {
  return runner.kind === 'claude' || runner.kind === 'codex' ? (runner.args ?? []) : [];
}
