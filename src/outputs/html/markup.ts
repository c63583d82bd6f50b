import { html as escaped, raw } from 'hono/html';

/** A piece of a page. `html` escapes interpolated values that are not pieces themselves, and renders `false` and null as nothing. */
export interface Markup {
  readonly isEscaped: true;
  toString(): string;
}

/** Hono's template tag. It would return a promise for an interpolated promise, but no piece of a page is one. */
export const html = escaped as (strings: TemplateStringsArray, ...values: readonly unknown[]) => Markup;

export const nothing: Markup = raw('');

export { raw };

/** Renders a text unchanged. A large one scrolls by itself, so it can be focused with the keyboard. */
export function renderPreformatted(label: string, text: string): Markup {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;
}
