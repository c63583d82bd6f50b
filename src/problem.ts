import { exitCodes } from './core/exit-codes.js';

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
  /** The journal of a killed run is damaged, or belongs to another project. */
  | 'journal-refused'
  /** Another self-heal is running in the project. */
  | 'project-locked'
  | 'input-unreadable'
  | 'run-missing'
  /** There is a store that cannot be understood; it is never treated as an empty one. */
  | 'store-unreadable'
  /** The store cannot be reached or written. */
  | 'store-unusable';

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

const exitCodeOf: Record<ProblemKind, number> = {
  usage: exitCodes.usage,
  'config-invalid': exitCodes.usage,
  'playwright-missing': exitCodes.usage,
  'playwright-unsupported': exitCodes.usage,
  'playwright-config-missing': exitCodes.usage,
  'playwright-refused': exitCodes.usage,
  'browser-missing': exitCodes.usage,
  'no-tests': exitCodes.usage,
  'agent-not-installed': exitCodes.agentUnusable,
  'agent-unusable': exitCodes.agentUnusable,
  'folder-not-writable': exitCodes.usage,
  'journal-refused': exitCodes.usage,
  'project-locked': exitCodes.usage,
  'input-unreadable': exitCodes.usage,
  'run-missing': exitCodes.usage,
  'store-unreadable': exitCodes.usage,
  'store-unusable': exitCodes.usage,
};

/** Returns the exit code for a problem. */
export function exitCodeFor(problem: Problem): number {
  return exitCodeOf[problem.kind];
}

/** Renders a problem for a person: message, detail, remedy. */
export function formatProblem(problem: Problem): string {
  const detail = problem.detail ? `\n\n${problem.detail.replace(/\s+$/, '')}\n` : '';
  return `self-heal: ${problem.message}${detail}\n  → ${problem.remedy}`;
}
