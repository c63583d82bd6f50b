/** A piece of the page. */
export interface Part {
  /** Names it among its siblings. */
  readonly key: string;
  /** Plain data that it is built from: while this stays, so does the element. */
  readonly from: unknown;
  readonly build: () => HTMLElement;
}

const shown = new WeakMap<Element, { key: string; from: string }>();

/**
 * Brings the children of an element in line with the parts. One that has not changed stays as it is, with its focus, selection
 * and typed text; one that has is built again and stays as open as it was.
 */
export function showParts(parent: HTMLElement, parts: readonly Part[]): void {
  const old = new Map([...parent.children].map((child) => [shown.get(child)?.key, child]));
  const children = parts.map((part) => kept(old.get(part.key), part));
  for (const child of old.values()) if (!children.includes(child)) child.remove();
  children.forEach((child, at) => {
    const there = parent.children[at] ?? null;
    if (there !== child) parent.insertBefore(child, there);
  });
}

function kept(old: Element | undefined, { key, from, build }: Part): Element {
  const data = JSON.stringify(from);
  if (old && shown.get(old)?.from === data) return old;
  const made = build();
  if (old instanceof HTMLDetailsElement && made instanceof HTMLDetailsElement) made.open = old.open;
  shown.set(made, { key, from: data });
  return made;
}
