/** How much of a cause is shown. */
export interface Detail {
  /** Rows of console and network, each. */
  readonly rows: number;
  /** Characters of a text: stack, server output, snapshot. */
  readonly text: number;
  /** Excerpts of the user's own code. */
  readonly sources: number;
  /** Lines of a diff. */
  readonly diffLines: number;
  /** Evidence is shown at all. */
  readonly evidence: boolean;
  /** There is more than the line. */
  readonly body: boolean;
  /** Bytes below which trying it is not worth its time. */
  readonly from: number;
}

/** From everything to a line: a page takes the first that fits. */
export const details: readonly Detail[] = [
  { rows: 50, text: 12_000, sources: 5, diffLines: 400, evidence: true, body: true, from: 6000 },
  { rows: 15, text: 3000, sources: 2, diffLines: 120, evidence: true, body: true, from: 4000 },
  { rows: 5, text: 800, sources: 1, diffLines: 30, evidence: true, body: true, from: 2500 },
  { rows: 0, text: 0, sources: 0, diffLines: 0, evidence: false, body: true, from: 1200 },
  { rows: 0, text: 0, sources: 0, diffLines: 0, evidence: false, body: false, from: 0 },
];
