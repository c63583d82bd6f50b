/** How much detail of a cause is shown. */
export interface Detail {
  /** The maximum number of console rows, and of network rows; without any, no evidence is shown. */
  readonly rows: number;
  /** The maximum length of a text (stack, server output, snapshot) in characters. */
  readonly text: number;
  /** The maximum number of excerpts of the user's own code. */
  readonly sources: number;
  /** The maximum number of lines of a diff. */
  readonly diffLines: number;
  /** Whether anything beyond the summary line is shown. */
  readonly body: boolean;
  /** The smallest share of the page, in bytes, for which this level is worth trying. */
  readonly from: number;
}

/** From everything to a single line; the first level that fits is used. */
export const details: readonly Detail[] = [
  { rows: 50, text: 12_000, sources: 5, diffLines: 400, body: true, from: 6000 },
  { rows: 15, text: 3000, sources: 2, diffLines: 120, body: true, from: 4000 },
  { rows: 5, text: 800, sources: 1, diffLines: 30, body: true, from: 2500 },
  { rows: 0, text: 0, sources: 0, diffLines: 0, body: true, from: 1200 },
  { rows: 0, text: 0, sources: 0, diffLines: 0, body: false, from: 0 },
];
