import sax from 'sax';

/** A parsed element. */
export interface ReadElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: ReadElement[];
  text: string;
}

const allowed = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

/** Parses XML. Throws if it is not well-formed XML 1.0. */
export function readXml(xml: string): ReadElement {
  if (!allowed.test(xml)) throw new Error('a character that XML 1.0 forbids');
  const root: ReadElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const addText = (text: string) => {
    const element = open.at(-1);
    if (element) element.text += text;
  };
  const parser = Object.assign(sax.parser(true, { trim: true }), {
    onopentag: ({ name, attributes }: sax.Tag) => {
      const element = { name, attributes, children: [], text: '' };
      open.at(-1)?.children.push(element);
      open.push(element);
    },
    onclosetag: () => void open.pop(),
    ontext: addText,
    oncdata: addText,
    onerror: (error: Error) => {
      throw error;
    },
  });
  parser.write(xml).close();
  const [only] = root.children;
  if (!only) throw new Error('no element');
  return only;
}

/** Returns all descendants of an element with this name. */
export function all(element: ReadElement, name: string): ReadElement[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...all(child, name)]);
}
