import type { AgentRun } from '../core/attempt.js';
import type { AgentSettings, RunnerSettings } from '../core/settings.js';

/** One piece of work for one agent process. */
export interface AgentTask {
  readonly agent: AgentSettings;
  readonly runner: RunnerSettings;
  /** What the program is sent, as `expandedPrompt` gives it; Markdown. */
  readonly prompt: string;
  readonly contextFile: string;
  readonly promptFile: string;
  readonly screenshot: string | null;
  /** Receives everything the agent writes, bounded. */
  readonly logFile: string;
  /** The agent's working directory. */
  readonly cwd: string;
  /** Where `cwd` is a folder in a copy: the same folder in the project, and the top of the copy. */
  readonly copyOf?: { readonly project: string; readonly root: string };
  /** A folder that nobody but this agent works in: what works in it still, and has no parent, is ended with it. */
  readonly workDir?: string;
  readonly runId: string;
  readonly attempt: number;
  /** The session of an earlier attempt, which the program is to continue (AG-9). */
  readonly resume?: string | null;
  /** Aborts on interrupt; the agent and all it started are gone when the promise resolves. */
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
  /** The last line of what the agent said or did. */
  readonly onActivity: (text: string) => void;
}

/** Runs an agent to its end; never rejects for anything that the agent does. */
export type RunAgent = (task: AgentTask) => Promise<AgentRun>;
