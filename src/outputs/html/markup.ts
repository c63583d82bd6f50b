import { html as escaped, raw } from 'hono/html';
import { atMost } from '../../format.js';

/** A piece of a page. Whatever is interpolated into `html` is escaped, unless it is itself a piece. */
export interface Markup {
  readonly isEscaped: true;
  toString(): string;
}

/** Hono's template tag. It returns a promise only if a promise is interpolated, and no piece of a page is one. */
export const html = escaped as (strings: TemplateStringsArray, ...values: readonly unknown[]) => Markup;

export const nothing: Markup = raw('');

/** Returns the first items of a list and, if there are others, an item with their number. */
export function firstItems(items: readonly Markup[], most: number): Markup[] {
  return atMost(items, most, (hidden) => html`<li>and ${hidden} more</li>`);
}

export { raw };

export interface Table {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly cells: readonly (Markup | string | number)[];
    readonly bad?: boolean;
    /** A CSS class of the row, for filters. */
    readonly kind?: string;
  }[];
}

/** Renders a table that scrolls on its own if it is too wide, and is therefore reachable by keyboard. */
export function showTable({ label, columns, rows }: Table): Markup {
  return html`<div class="wide" tabindex="0" role="group" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ cells, bad = false, kind = '' }) =>
            html`<tr class="${bad ? 'problem' : kind}">
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
