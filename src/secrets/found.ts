/** A range of a text that is taken for a secret; `end` is exclusive. */
export interface Found {
  readonly start: number;
  readonly end: number;
  /** What the mask calls the secret: `github token`. */
  readonly kind: string;
  /** The mask's full label, if it is already known. */
  readonly label?: string;
}

/** Finds secrets in a text. */
export type Find = (text: string) => readonly Found[];
