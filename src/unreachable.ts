/** Closes a switch over a union, so that a forgotten member is a compile error. */
export function unreachable(value: never): never {
  throw new Error(`Unreachable: ${JSON.stringify(value)}`);
}
