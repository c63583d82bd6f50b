import { html as escaped, raw } from 'hono/html';
import { atMost } from '../../format.js';

/** A piece of a page. Whatever is interpolated into `html` is escaped, unless it is itself a piece; `false` and null leave nothing. */
export interface Markup {
  readonly isEscaped: true;
  toString(): string;
}

/** Hono's template tag. It returns a promise only if a promise is interpolated, and no piece of a page is one. */
export const html = escaped as (strings: TemplateStringsArray, ...values: readonly unknown[]) => Markup;

export const nothing: Markup = raw('');

export { raw };

/** Returns the first items of a list and, if there are others, an item with their number. */
export function firstItems(items: readonly Markup[], most: number): Markup[] {
  return atMost(items, most, (hidden) => html`<li>and ${hidden} more</li>`);
}

/** Shows a text as it is. It scrolls on its own if it is too large, and is therefore reachable by keyboard. */
export function preformatted(label: string, text: string): Markup {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;
}

/** A row of a table; `kind` is its CSS class, for filters and problems. */
interface Row {
  readonly cells: readonly (Markup | string | number)[];
  readonly kind: string;
}

/** Shows a table that scrolls on its own if it is too large, and is therefore reachable by keyboard. */
export function showTable(label: string, columns: readonly string[], rows: readonly Row[]): Markup {
  return html`<div class="wide" tabindex="0" role="group" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ cells, kind }) =>
            html`<tr class="${kind}">
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
