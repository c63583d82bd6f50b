/** One line of `self-heal doctor` (CL-11). */
export interface Check {
  /** What was looked at: `node`, `browser`, `claude`. */
  readonly name: string;
  /** `warning`: a run works without it, or it cannot be told; `failed`: a run would not work. */
  readonly state: 'ok' | 'warning' | 'failed';
  /** What was found, in a few words. */
  readonly found: string;
  /** What to do about it; null where all is well. */
  readonly remedy: string | null;
}

/** All is well. */
export function good(name: string, found: string): Check {
  return { name, state: 'ok', found, remedy: null };
}

/** A run works, but not as well as it could; or whether it does cannot be told. */
export function doubtful(name: string, found: string, remedy: string): Check {
  return { name, state: 'warning', found, remedy };
}

/** A run could not work. */
export function bad(name: string, found: string, remedy: string): Check {
  return { name, state: 'failed', found, remedy };
}
