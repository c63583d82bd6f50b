import escapeStringRegexp from 'escape-string-regexp';
import type { Hunk } from '../core/blame.js';

/** The elements of HTML that have a role by themselves, where they are not called like it (https://www.w3.org/TR/html-aria/). */
const tags: Readonly<Record<string, string>> = {
  link: 'a',
  heading: 'h[1-6]',
  textbox: 'input|textarea',
  searchbox: 'input',
  spinbutton: 'input',
  checkbox: 'input',
  radio: 'input',
  switch: 'input',
  slider: 'input',
  combobox: 'select|input',
  listbox: 'select',
  img: 'img|svg',
  list: 'ul|ol',
  listitem: 'li',
  row: 'tr',
  cell: 'td',
  columnheader: 'th',
  navigation: 'nav',
};

/** Whether a change took out markup of one role and put in markup of the other, as often. */
export function swapsRole({ old, now }: Hunk, from: string, to: string): boolean {
  const gone = countOf(from, old) - countOf(from, now);
  const came = countOf(to, now) - countOf(to, old);
  return gone > 0 && gone === came;
}

/** How often lines make an element of a role: by a tag, by a component or a call that is named like it, or by the attribute. */
function countOf(role: string, lines: readonly string[]): number {
  const named = [escapeStringRegexp(role), ...(tags[role] ? [tags[role]] : [])].join('|');
  const made = new RegExp(`<(?:${named})(?![\\w-])|\\((["'\`])(?:${named})\\1`, 'gi');
  const given = new RegExp(`\\brole["']?\\s*[=:]\\s*[{"'\`]+${escapeStringRegexp(role)}["'\`]`, 'g');
  const text = lines.join('\n');
  return (text.match(made)?.length ?? 0) + (text.match(given)?.length ?? 0);
}
