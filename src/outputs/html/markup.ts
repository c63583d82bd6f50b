import { html as escaped, raw } from 'hono/html';
import { atMost } from '../format.js';

/** A piece of a page. Whatever is interpolated into `html` is escaped, unless it is itself a piece. */
export interface Markup {
  readonly isEscaped: true;
  toString(): string;
}

/** Hono's template tag. It returns a promise only if a promise is interpolated, and no piece of a page is one. */
export const html = escaped as (strings: TemplateStringsArray, ...values: readonly unknown[]) => Markup;

/** Empty markup. */
export const nothing: Markup = raw('');

/** Returns the first items of a list and, if there are others, an item with their number. */
export function firstItems(items: readonly Markup[], most: number): Markup[] {
  return atMost(items, most, (hidden) => html`<li>and ${hidden} more</li>`);
}

export { raw };
