/** One line of `self-heal doctor` (CL-11). */
export interface Check {
  /** The subject: `node`, `browser`, `claude`. */
  readonly name: string;
  /** `warning`: a run works without it, or there is no way to tell; `failed`: a run would not work. */
  readonly state: 'ok' | 'warning' | 'failed';
  /** What was found, in a few words. */
  readonly found: string;
  /** What to do about it; null if all is well. */
  readonly remedy: string | null;
}

/** A check that passed. */
export function good(name: string, found: string): Check {
  return { name, state: 'ok', found, remedy: null };
}

/** A check for something that limits a run, or that cannot be determined. */
export function doubtful(name: string, found: string, remedy: string): Check {
  return { name, state: 'warning', found, remedy };
}

/** A check for something without which a run would not work. */
export function bad(name: string, found: string, remedy: string): Check {
  return { name, state: 'failed', found, remedy };
}
