/** A mistake in what a file says, by its path in the data; `locate` knows where that is written. */
export interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly part: 'key' | 'value';
  /** Whether something is not there; behind a syntax error it may be there all the same. */
  readonly absent: boolean;
  readonly message: string;
}

/** `; did you mean "x"?`, or the choice where nothing is near; nothing where there is no choice. */
export function hint(near: string | null, choice: readonly string[], introduction: string): string {
  if (near !== null) return `; did you mean "${near}"?`;
  return choice.length === 0 ? '' : `; ${introduction} ${choice.join(', ')}`;
}
