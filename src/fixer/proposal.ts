/** One file as a fix leaves it. */
export interface ProposedFile {
  /** Absolute, in the project. */
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** A fix that the built-in fixer is sure of (BF-1); guard, re-run and proof judge it like any agent's. */
export interface Proposal {
  /** What it does and why, in a sentence. */
  readonly summary: string;
  readonly files: readonly ProposedFile[];
}

/** The project's code as it is now. */
export interface Sources {
  /** Null where it is too large to be searched. */
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
