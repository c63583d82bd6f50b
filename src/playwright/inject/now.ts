/** `Date.now`, saved before a test can replace the clock. */
export const { now } = Date;
