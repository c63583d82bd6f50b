import { html, raw } from 'hono/html';
import { atMost } from '../format.js';

/** A piece of a page. Whatever is interpolated into `html` is escaped, unless it is itself a piece. */
export type Markup = ReturnType<typeof html>;

/** Empty markup. */
export const nothing: Markup = raw('');

/** Returns the first items of a list and, if there are others, an item with their number. */
export function firstItems(items: readonly Markup[], most: number): Markup[] {
  return atMost(items, most, (hidden) => html`<li>and ${hidden} more</li>`);
}

export { html, raw };
