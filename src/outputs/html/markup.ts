import { html as escaped, raw } from 'hono/html';

/** A piece of a page. Whatever is interpolated into `html` is escaped, unless it is itself a piece; `false` and null leave nothing. */
export interface Markup {
  readonly isEscaped: true;
  toString(): string;
}

/** Hono's template tag. It returns a promise only if a promise is interpolated, and no piece of a page is one. */
export const html = escaped as (strings: TemplateStringsArray, ...values: readonly unknown[]) => Markup;

export const nothing: Markup = raw('');

export { raw };

/** Shows a text as it is. It scrolls on its own if it is too large, and is therefore reachable by keyboard. */
export function preformatted(label: string, text: string): Markup {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;
}
