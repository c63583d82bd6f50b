import type { Problem, ProblemKind } from './problem.js';
import type { Report } from './run/report.js';

/** Why self-heal could not do what it was asked for: what a command would exit with 2, 5 or 70 for. */
export class SelfHealError extends Error {
  override readonly name = 'SelfHealError';
  /** `bug` is a defect of self-heal, whose `cause` says more. */
  readonly kind: ProblemKind | 'bug';
  /** What to do about it, as one sentence or command. */
  readonly remedy: string;
  /** What belongs to the message: marked lines, a list. */
  readonly detail: string | null;
  /** The report of a run that ended with 5; null if there was no run. */
  readonly report: Report | null;

  constructor(
    { kind, message, remedy, detail }: Omit<Problem, 'kind'> & { readonly kind: ProblemKind | 'bug' },
    { report, cause }: { readonly report?: Report; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.remedy = remedy;
    this.detail = detail ?? null;
    this.report = report ?? null;
  }
}
