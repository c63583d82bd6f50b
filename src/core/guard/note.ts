/** What a reviewer should look at in a change that was not rejected: nothing proves it wrong. */
export interface Note {
  /** Relative to the recorded root, with `/`. */
  readonly file: string;
  /** From 1; null where no line says it. */
  readonly line: number | null;
  /** In a sentence without its full stop. */
  readonly says: string;
  /** The locator that took another one's place: what it finds is added to `says` where a page tells. */
  readonly locator?: string;
}

/** A note in one line: place and what it says. */
export function noteLine({ file, line, says }: Note): string {
  return `${file}${line === null ? '' : `:${line}`} ${says}`;
}
