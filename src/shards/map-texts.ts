/** A copy of plain data in which each text is another. */
export function mapTexts<T>(value: T, map: (text: string) => string): T {
  return mapped(value, map) as T;
}

function mapped(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapped(one, map)]));
}
