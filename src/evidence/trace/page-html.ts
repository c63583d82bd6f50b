import { checkedState, type DomElement, type DomNode, isOfPage, shadowRoot, typedValue } from './dom.js';

const voids = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
/** A longer attribute is no use to a reader: a picture as data, the path of a drawing. It is left out whole: half a secret is not recognized. */
const longest = 400;

/** Renders a page as HTML with one element a line, up to about `most` characters. What was typed into password fields is left out. */
export function pageHtml(root: DomElement, most: number): string {
  const lines: string[] = [];
  let room = most;
  const line = (depth: number, text: string): void => {
    room -= depth + text.length + 1;
    if (room > 0) lines.push(' '.repeat(depth) + text);
  };
  const write = (node: DomNode, depth: number): void => {
    if (room <= 0) return;
    if (typeof node === 'string') {
      const text = onOneLine(node);
      if (text !== '') line(depth, text);
      return;
    }
    const start = `<${nameOf(node)}${attributesOf(node)}>`;
    const [only = '', ...others] = node.children;
    if (voids.has(node.tag)) line(depth, start);
    else if (others.length === 0 && typeof only === 'string')
      line(depth, `${start}${onOneLine(only)}</${nameOf(node)}>`);
    else {
      line(depth, start);
      for (const child of node.children) write(child, depth + 1);
      line(depth, `</${nameOf(node)}>`);
    }
  };
  write(root, 0);
  if (room <= 0) lines.push('<!-- the rest of the page was cut -->');
  return lines.join('\n');
}

function nameOf({ tag, attributes }: DomElement): string {
  return tag === 'template' && shadowRoot in attributes ? 'shadow-root' : tag;
}

function attributesOf({ attributes }: DomElement): string {
  const { [typedValue]: typed, [checkedState]: checked, ...others } = attributes;
  const isPassword = attributes['type']?.toLowerCase() === 'password';
  const seen = {
    ...others,
    ...(typed === undefined ? {} : { value: typed }),
    ...(checked === 'true' ? { checked: '' } : {}),
  };
  return Object.entries(seen)
    .filter(([name]) => isOfPage(name) && !(isPassword && name === 'value'))
    .map(([name, value]) =>
      value === '' ? ` ${name}` : ` ${name}="${cut(value).replaceAll('"', '&quot;')}"`,
    )
    .join('');
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replaceAll('<', '&lt;');
}

function cut(text: string): string {
  return text.length > longest ? `… ${text.length} characters` : onOneLine(text);
}
