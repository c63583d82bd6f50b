import { html, raw } from 'hono/html';

/** A piece of a page. What is put into `html` is escaped, unless it is a piece itself. */
export type Markup = ReturnType<typeof html>;

/** Nothing. */
export const nothing: Markup = raw('');

export { html, raw };
