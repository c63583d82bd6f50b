/** A copy of plain data in which each text is another; keys too, where that is said. */
export function mapTexts<T>(value: T, map: (text: string) => string, mapKey = (key: string) => key): T {
  return mapped(value, map, mapKey) as T;
}

type Change = (text: string) => string;

function mapped(value: unknown, map: Change, mapKey: Change): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, map, mapKey));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, one]) => [mapKey(key), mapped(one, map, mapKey)]));
}
