/** One tree of plain data over another: mappings are joined, and anything else of the upper one takes the place of the lower. */
export function overlay<T extends object>(lower: T, upper: Partial<T>): T {
  const joined = Object.entries(upper).flatMap(([key, value]: [string, unknown]) => {
    if (value === undefined) return [];
    const below: unknown = Reflect.get(lower, key);
    return [[key, isMapping(below) && isMapping(value) ? overlay(below, value) : value] as const];
  });
  return { ...lower, ...Object.fromEntries(joined) };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
