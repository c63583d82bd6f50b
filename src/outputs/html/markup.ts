import { html, raw } from 'hono/html';

/** A piece of a page. Whatever is interpolated into `html` is escaped, unless it is itself a piece. */
export type Markup = ReturnType<typeof html>;

/** Empty markup. */
export const nothing: Markup = raw('');

export { html, raw };
