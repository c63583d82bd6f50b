import escapeStringRegexp from 'escape-string-regexp';

/** A text in which one path is another: where it stands alone, or goes on with a separator. */
export function replacePath(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  return text.replaceAll(new RegExp(`(?<![\\w.-])${escapeStringRegexp(from)}(?![\\w.-])`, 'g'), () => to);
}
