import escapeStringRegexp from 'escape-string-regexp';

/** Replaces a path in a text, wherever it stands alone or continues with a separator. */
export function replacePath(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  return text.replaceAll(new RegExp(`(?<![\\w.-])${escapeStringRegexp(from)}(?![\\w.-])`, 'g'), () => to);
}
