/** Something a reviewer should look at in a change that was not rejected: nothing proves it wrong. */
export interface Note {
  /** Relative to the recorded root, with `/`. */
  readonly file: string;
  /** Counted from 1; null if it does not belong to a line. */
  readonly line: number | null;
  /** A sentence without its period. */
  readonly says: string;
  /** A locator that replaced another one: if the page is available, what it finds is added to `says`. */
  readonly locator?: string;
}

/** Formats a note as one line: its place and what it says. */
export function noteLine({ file, line, says }: Note): string {
  return `${file}${line === null ? '' : `:${line}`} ${says}`;
}
