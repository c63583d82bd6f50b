import type { Choice, Escalation } from '../core/escalation.js';
import type { Problem } from '../problem.js';
import type { Result } from '../result.js';

/** Where the page's questions and answers go; `self-heal escalations` is the other way to the same. */
export interface EscalationDesk {
  /** The open questions, the newest first. */
  pending(): Promise<Result<readonly Escalation[], Problem>>;
  /** Answers a question; gives it as it is then. */
  answer(id: string, given: GivenAnswer): Promise<Result<Escalation, Problem>>;
}

/** What was given as an answer, before it is checked against what was asked. */
export interface GivenAnswer {
  readonly choice?: Choice;
  readonly guidance?: string;
}
