/** One file as changed by a fix. */
export interface ProposedFile {
  /** Absolute, in the project. */
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** A fix that the built-in fixer is sure of (BF-1). Guard, re-run and proof judge it like an agent's. */
export interface FixerProposal {
  /** Describes the fix and its reason in one sentence. */
  readonly summary: string;
  readonly files: readonly ProposedFile[];
}
