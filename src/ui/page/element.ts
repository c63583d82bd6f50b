/** What an element may hold: text is always text, whatever it looks like; null is left out. */
export type Content = Node | string | null;

/**
 * Makes an element with attributes and content. The page has no other way to make one, and none that reads markup: what a
 * failing app or an agent wrote is shown as it is.
 */
export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content.filter((one) => one !== null));
  return made;
}

/** The element of the page with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Sets an element's text where it is another one, so that a live region speaks only of changes. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}
