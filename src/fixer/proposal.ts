/** One file as changed by a fix. */
export interface ProposedFile {
  /** Absolute, in the project. */
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** A fix that the built-in fixer is sure of (BF-1). Guard, re-run and proof judge it like an agent's. */
export interface Proposal {
  /** What it does and why, in one sentence. */
  readonly summary: string;
  readonly files: readonly ProposedFile[];
}

/** The project's current code. */
export interface Sources {
  /** Null if it is too large to be searched. */
  readonly app: readonly SourceText[] | null;
  /** Specs, page objects, fixtures. */
  readonly tests: readonly SourceText[];
}

/** A file's text, as proposals read it. */
export interface SourceText {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
}
