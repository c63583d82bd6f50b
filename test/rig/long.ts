/** Takes the second number in `npm run test:long`, where thoroughness goes before speed. */
export function orWhenLong(quick: number, long: number): number {
  return process.env['SELF_HEAL_TEST_LONG'] === undefined ? quick : long;
}
