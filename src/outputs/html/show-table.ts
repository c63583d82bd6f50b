import { html, type Markup } from './markup.js';

/** Rows of cells below named columns. */
export interface Table {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly cells: readonly (Markup | string | number)[];
    readonly bad?: boolean;
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
          ({ cells, bad = false }) =>
            html`<tr class="${bad ? 'problem' : ''}">
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
