/** Whether this is `npm run test:long`. */
export const isLong = process.env['SELF_HEAL_TEST_LONG'] !== undefined;

/** Returns the second number in `npm run test:long`, where thoroughness matters more than speed. */
export function orWhenLong(quick: number, long: number): number {
  return isLong ? long : quick;
}
