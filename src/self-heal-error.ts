import type { Problem, ProblemKind } from './problem.js';
import type { Report } from './run/report.js';

/** The error of a library call that failed; the command would exit with 2, 5 or 70. */
export class SelfHealError extends Error {
  override readonly name = 'SelfHealError';
  /** `bug` is a defect of self-heal; see `cause`. */
  readonly kind: ProblemKind | 'bug';
  /** The remedy, as one sentence or command. */
  readonly remedy: string;
  /** Details of the message, such as marked lines or a list. */
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
