import morphdom from 'morphdom';
import type { Markup } from '../../outputs/html/markup.js';

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

/**
 * Brings what an element holds in line with markup, in which every text is escaped (`hono/html`), and of which no script runs. What has not changed stays
 * as it is, with its focus and selection; what is unfolded stays so, and a form that somebody is writing in.
 */
export async function fill(target: HTMLElement, markup: Markup | string): Promise<void> {
  const { body } = new DOMParser().parseFromString(String(await markup), 'text/html');
  morphdom(target, body, {
    childrenOnly: true,
    onBeforeElUpdated: (from, to) => {
      if (from instanceof HTMLDetailsElement && to instanceof HTMLDetailsElement)
        if (from.dataset['state'] === to.dataset['state']) to.open = from.open;
      const counts = from.dataset['since'] !== undefined && from.dataset['since'] === to.dataset['since'];
      return !counts && !(from instanceof HTMLFormElement) && !from.isEqualNode(to);
    },
  });
}
