/** A mistake in a file, located by its path in the data; `locate` finds where that is written. */
export interface Mistake {
  readonly path: readonly PropertyKey[];
  /** Default: `value`. */
  readonly part?: 'key' | 'value';
  /** Whether something is missing. After a syntax error, it may exist all the same. */
  readonly absent?: boolean;
  readonly message: string;
}

/** Returns `; did you mean "x"?`, or the list of choices if no name is close, or an empty text if there are no choices. */
export function hint(near: string | null, choice: readonly string[], introduction: string): string {
  if (near !== null) return `; did you mean "${near}"?`;
  return choice.length === 0 ? '' : `; ${introduction} ${choice.join(', ')}`;
}
