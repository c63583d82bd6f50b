import type { AgentClaim, AgentEnding, AgentUsage } from '../core/attempt.js';
import type { AgentTask } from './run-agent.js';

/** How to start a program for a task. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}

/** A task with what agents.yaml adds to the command line. */
export type AgentWork = AgentTask & { readonly extraArgs: readonly string[] };

/** Understands what a program writes, line by line. */
export interface OutputReader {
  /** What a line says: a short text to show, and whether the work is complete by it. */
  line(text: string): { readonly activity: string | null; readonly complete: boolean };
  /** What all of it came to. */
  result(): AgentResult;
}

/** What a program says of its own work and of its own troubles. */
export interface AgentResult {
  readonly claim: AgentClaim | null;
  readonly usage: AgentUsage;
  readonly denials: readonly string[];
  /**
   * The program's own account of a failure, which its exit code may not tell. `silent`: its output broke off without the record that
   * ends it, `text` being what it wrote beside; or null.
   */
  readonly trouble:
    | Extract<AgentEnding, { kind: 'unusable' | 'exited' | 'troubled' }>
    | { readonly kind: 'silent'; readonly text: string }
    | null;
}

/** One kind of coding-agent program: how it is started, and what its output means. */
export interface Runner {
  /** Whether the program runs slash commands itself; for one that does not, self-heal puts the command's text into the prompt. */
  readonly expandsCommands: boolean;
  command(work: AgentWork): AgentCommand;
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
