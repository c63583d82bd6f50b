/** Wraps a function so that it runs once for each key and its results are remembered. */
export function oncePerKey<T>(work: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    if (!known.has(key)) known.set(key, work(key));
    return known.get(key) as T;
  };
}
