import { exitCodes } from './model/exit-codes.js';

/** The reasons why self-heal itself cannot continue; everything else is an outcome. */
export type ProblemKind =
  | 'usage'
  | 'config-invalid'
  | 'playwright-missing'
  | 'playwright-unsupported'
  | 'playwright-config-missing'
  | 'playwright-refused'
  | 'browser-missing'
  | 'no-tests'
  | 'agent-not-installed'
  | 'agent-unusable'
  | 'folder-not-writable'
  /** `.self-heal`, or something in it, is not self-heal's own. */
  | 'state-refused'
  /** The journal of a killed run is damaged, or belongs to another project. */
  | 'journal-refused'
  /** Another self-heal is running in the project. */
  | 'project-locked'
  | 'input-unreadable'
  | 'run-missing'
  /** The contents of the store cannot be read. Such a store is never treated as an empty one. */
  | 'store-unreadable'
  /** The store cannot be reached or written. */
  | 'store-unusable'
  /** GitHub or GitLab refused a request, or cannot be reached. */
  | 'forge-refused';

/** A reason why self-heal cannot continue, and how to solve it. */
export interface Problem {
  readonly kind: ProblemKind;
  /** One sentence without a period. */
  readonly message: string;
  /** How to solve the problem, as one sentence or command. */
  readonly remedy: string;
  /** Printed below the message, unchanged: a marked line, a list. */
  readonly detail?: string;
}

const agentProblems: readonly ProblemKind[] = ['agent-not-installed', 'agent-unusable'];

export function getExitCode(problem: Problem): number {
  return agentProblems.includes(problem.kind) ? exitCodes.agentUnusable : exitCodes.usage;
}

/** Renders a problem for a person: message, detail, remedy. */
export function formatProblem(problem: Problem): string {
  const detail = problem.detail ? `\n\n${problem.detail.replace(/\s+$/, '')}\n` : '';
  return `self-heal: ${problem.message}${detail}\n  → ${problem.remedy}`;
}

/** Describes a thrown value. If several addresses of a host fail, Node throws an error without its own message. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeError).join('; ');
  return error instanceof Error ? error.message : String(error);
}
