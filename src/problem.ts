import { exitCodes } from './model/exit-codes.js';

/** Why self-heal itself cannot continue; everything else is an outcome. */
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
  /** There is a store that cannot be understood; it is never treated as an empty one. */
  | 'store-unreadable'
  /** The store cannot be reached or written. */
  | 'store-unusable'
  /** GitHub or GitLab refused a request, or cannot be reached. */
  | 'forge-refused';

/** A `ProblemKind` with its texts: what is wrong, what to do, and any helpful detail (a marked line, a list). */
export interface Problem {
  readonly kind: ProblemKind;
  /** One sentence without a period. */
  readonly message: string;
  /** What to do about it, as one sentence or command. */
  readonly remedy: string;
  /** Shown below the message, unchanged. */
  readonly detail?: string;
}

/** Problems of an agent program, as opposed to the usage, the project or the machine. */
const ofAgents: readonly ProblemKind[] = ['agent-not-installed', 'agent-unusable'];

export function exitCodeFor(problem: Problem): number {
  return ofAgents.includes(problem.kind) ? exitCodes.agentUnusable : exitCodes.usage;
}

/** Renders a problem for a person: message, detail, remedy. */
export function formatProblem(problem: Problem): string {
  const detail = problem.detail ? `\n\n${problem.detail.replace(/\s+$/, '')}\n` : '';
  return `self-heal: ${problem.message}${detail}\n  → ${problem.remedy}`;
}

/** Describes a thrown value. If several addresses of a host fail, Node throws an error without its own message. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
