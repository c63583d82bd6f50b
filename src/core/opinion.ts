/** What a second opinion may say about a fix: that it treats the cause, that it hides the fault, or neither. */
export const opinionVerdicts = ['honest', 'hides', 'unsure'] as const;

/** What an agent that did not make a fix says about it (HN-11). */
export interface Opinion {
  readonly verdict: (typeof opinionVerdicts)[number];
  /** The place in the fix that it is about, if it names one; relative to the project. */
  readonly file: string | null;
  readonly line: number | null;
  readonly why: string;
}

/** Formats an opinion as one line: `hides: it swallows the error (src/a.ts:3)`. */
export function opinionText({ verdict, file, line, why }: Opinion): string {
  const place = file === null ? '' : ` (${file}${line === null ? '' : `:${line}`})`;
  return `${verdict}: ${why}${place}`;
}
