/** Maps each text in plain data, and each key if `mapKey` is given. Unchanged parts are not copied. */
export function mapTexts<T>(value: T, map: (text: string) => string, mapKey = (key: string) => key): T {
  return mapped(value, map, mapKey) as T;
}

type Change = (text: string) => string;

function mapped(value: unknown, map: Change, mapKey: Change): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((one) => mapped(one, map, mapKey));
    return all.every((one, at) => one === value[at]) ? value : all;
  }
  const before = Object.entries(value);
  const after = before.map(([key, one]): [string, unknown] => [mapKey(key), mapped(one, map, mapKey)]);
  const isSame = after.every(([key, one], at) => key === before[at]?.[0] && one === before[at]?.[1]);
  return isSame ? value : Object.fromEntries(after);
}
