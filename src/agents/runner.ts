import type { AgentClaim, AgentEnding, AgentUsage } from '../core/attempt.js';
import type { AgentTask } from './run-agent.js';

/** How to start a program for a task. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  /** The environment variables it is given (`ANTHROPIC_*` names several), or all of them. */
  readonly passes: readonly string[] | 'everything';
}

/** Where a line was written to. */
export type OutputStream = 'stdout' | 'stderr';

/** What a line says: a short text to show, and whether the work is complete by it. */
export interface LineMeaning {
  readonly activity: string | null;
  readonly complete: boolean;
  /** The program would go on without hope (its own retries, a full context), so it is stopped at once. */
  readonly hopeless?: boolean;
}

/** Understands what a program writes, line by line. */
export interface OutputReader {
  /** What a line of its standard output, or error, says. */
  line(text: string, from: OutputStream): LineMeaning;
  /** The result of all of it. */
  result(): AgentResult;
}

/** What a program says about its own work and its own errors. */
export interface AgentResult {
  readonly claim: AgentClaim | null;
  readonly usage: AgentUsage;
  readonly denials: readonly string[];
  /** The program's own account of a failure, which its exit code may not tell; or null. */
  readonly error: Extract<
    AgentEnding,
    { kind: 'unusable' | 'exited' | 'retryable' | 'context-overflow' | 'limited' }
  > | null;
}

/** One kind of coding-agent program: how it is started, and what its output means. */
export interface Runner {
  command(task: AgentTask): AgentCommand;
  reader(): OutputReader;
}

/** Usage of a program that reports none. */
export const noUsage: AgentUsage = {
  costUsd: null,
  inputTokens: null,
  outputTokens: null,
  turns: null,
  sessionId: null,
};
