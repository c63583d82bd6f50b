/** Reads a field of a value that may be anything; undefined where there is no such field. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** The value if it is a string, else the other one. */
export function stringOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise;
}

/** The value if it is a finite number, else the other one. */
export function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

/** The elements of the value if it is an array, else none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The JSON value of a text, or undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
