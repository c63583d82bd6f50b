/** Returns the value at a path in plain data; undefined if there is none. */
export function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    data,
  );
}

/** Builds plain data with these values at their paths. */
export function treeOf(
  values: readonly { readonly path: readonly string[]; readonly value: unknown }[],
): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const { path, value } of values) {
    const parent = path.slice(0, -1).reduce<Record<string, unknown>>((node, key) => {
      node[key] ??= {};
      return node[key] as Record<string, unknown>;
    }, tree);
    parent[path.at(-1) ?? ''] = value;
  }
  return tree;
}
