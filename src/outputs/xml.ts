/** An XML element; `text` goes into a CDATA section, before the children. */
export interface XmlElement {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly text?: string;
  readonly children?: readonly XmlElement[];
}

/**
 * What XML 1.0 forbids or discourages (https://www.w3.org/TR/xml/#charsets): controls, halves of surrogate pairs, the two
 * non-characters. No escape stands for them, so they go.
 */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const unfit = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ud800-\udfff\ufffe\uffff]/gu;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** A whole document, well-formed whatever the texts are. Names are taken as they are: they are ours. */
export function renderXml(root: XmlElement): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  append(lines, root, '');
  return `${lines.join('\n')}\n`;
}

function append(lines: string[], { name, attributes = {}, text, children = [] }: XmlElement, indent: string) {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${attribute(String(value))}"`);
  const open = `${indent}<${name}${written.join('')}`;
  if (text === undefined && children.length === 0) {
    lines.push(`${open}/>`);
    return;
  }
  const content = text === undefined ? '' : characterData(text);
  if (children.length === 0) {
    lines.push(`${open}>${content}</${name}>`);
    return;
  }
  lines.push(`${open}>${content}`);
  for (const child of children) append(lines, child, `${indent}  `);
  lines.push(`${indent}</${name}>`);
}

/** A parser reads a line end in an attribute as a space, so it is written as one. */
function attribute(text: string): string {
  const line = text.replaceAll(unfit, '').replaceAll(/\r\n|[\r\n\t]/g, ' ');
  return line.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

function characterData(text: string): string {
  return `<![CDATA[${text.replaceAll(unfit, '').replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}
