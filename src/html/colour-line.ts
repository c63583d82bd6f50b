import highlighter from 'highlight.js/lib/common';

interface Char {
  /** As it stands in HTML: one character, or one character reference. */
  readonly text: string;
  readonly tag: string;
}

/**
 * Colours a line of code that a diff has marked: `marked` is HTML whose only tags are `ins` and `del`. Lines are coloured one by
 * one, as a diff holds no more of a file; a comment over several lines is seen by its first alone.
 */
export function colourLine(marked: string, language: string): string {
  if (!highlighter.getLanguage(language)) return marked;
  const changes = charsOf(marked);
  const code = changes.map(({ text }) => plain(text)).join('');
  const colours = charsOf(highlighter.highlight(code, { language, ignoreIllegals: true }).value);
  // Two readings of one text; if they are not of one length, it is better grey than wrong.
  if (colours.length !== changes.length) return marked;
  let out = '';
  let last = { change: '', colour: '' };
  changes.forEach((char, at) => {
    const now = { change: char.tag, colour: colours[at]?.tag ?? '' };
    if (now.change !== last.change || now.colour !== last.colour) out += closing(last) + opening(now);
    out += char.text;
    last = now;
  });
  return out + closing(last);
}

interface Style {
  change: string;
  colour: string;
}

function opening({ change, colour }: Style): string {
  return `${change && `<${change}>`}${colour && `<span class="${colour}">`}`;
}

function closing({ change, colour }: Style): string {
  return `${colour && '</span>'}${change && `</${change}>`}`;
}

/** Each character of a piece of HTML with the innermost tag around it: `ins`, `del`, or the class of a span. */
function charsOf(markup: string): Char[] {
  const open: string[] = [];
  const chars: Char[] = [];
  for (const [token] of markup.matchAll(/<[^>]*>|&[^;\s]+;|[^]/gu)) {
    if (token.startsWith('</')) open.pop();
    else if (token.startsWith('<span')) open.push(/class="([^"]*)"/.exec(token)?.[1] ?? '');
    else if (token.startsWith('<ins')) open.push('ins');
    else if (token.startsWith('<del')) open.push('del');
    else chars.push({ text: token, tag: open.at(-1) ?? '' });
  }
  return chars;
}

const references: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
  '&#x2F;': '/',
};

function plain(text: string): string {
  return references[text] ?? text;
}
