import stringWidth from 'string-width';

/** Latin letters, dashes, quotes, arrows, and the symbols in our own output. */
const narrow = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u203a\u2190-\u2193▸✓✔✖✗]*$/;

/** Returns the width of a text in terminal columns. string-width is only used for unusual characters, since its first call takes 20 ms. */
export function widthOf(text: string): number {
  return narrow.test(text) ? text.length : stringWidth(text);
}
