import type { AgentRun } from '../core/attempt.js';
import type { AgentSettings, RunnerSettings } from '../core/settings.js';

/** One task for one agent process. */
export interface AgentTask {
  readonly agent: AgentSettings;
  readonly runner: RunnerSettings;
  /** What is sent to the program, as returned by `expandedPrompt`; Markdown. */
  readonly prompt: string;
  readonly contextFile: string;
  readonly promptFile: string;
  readonly screenshot: string | null;
  /** Receives everything that the agent writes, up to a size limit. */
  readonly logFile: string;
  /** The agent's working directory. */
  readonly cwd: string;
  /** If `cwd` is a folder in a copy: the same folder in the project, and the root of the copy. */
  readonly copyOf?: { readonly project: string; readonly root: string };
  /** A folder that only this agent works in: processes that still work in it and have no parent are ended with the agent. */
  readonly workDir?: string;
  readonly runId: string;
  readonly attempt: number;
  /** The session of an earlier attempt that the program should continue (AG-9). */
  readonly resume?: string | null;
  /** Aborts on interrupt; the agent and everything it started are gone when the promise resolves. */
  readonly signal: AbortSignal;
  readonly onStart: (pid: number) => void;
  /** Called with the latest thing that the agent said or did. */
  readonly onActivity: (text: string) => void;
}

/** Runs an agent to its end; never rejects because of anything that the agent does. */
export type RunAgent = (task: AgentTask) => Promise<AgentRun>;
