/** A stretch of a text that is taken for a secret; `end` is behind it. */
export interface Found {
  readonly start: number;
  readonly end: number;
  /** What a mask says stands there: `github token`. */
  readonly kind: string;
  /** What its mask says, where that is known already. */
  readonly label?: string;
}

/** Finds secrets in a text. */
export type Find = (text: string) => readonly Found[];
