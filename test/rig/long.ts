/** True in `npm run test:long`. */
export const isLong = process.env['SELF_HEAL_TEST_LONG'] !== undefined;

/** Returns the long number in `npm run test:long`, and the quick one otherwise. */
export function quickOrLong(quick: number, long: number): number {
  return isLong ? long : quick;
}
