/** A parsed element. */
export interface ReadElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: ReadElement[];
  text: string;
}

const token =
  /<\?xml [^>]*\?>|<!\[CDATA\[(?<cdata>[^]*?)\]\]>|<\/(?<close>[\w-]+)>|<(?<open>[\w-]+)(?<attributes>(?: [\w-]+="[^"<]*")*)(?<empty>\/?)>|(?<text>[^<]+)/gy;
const allowed = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Parses the XML that we and Playwright write: elements, attributes, text, CDATA. Throws if it is not well-formed XML 1.0. */
export function readXml(xml: string): ReadElement {
  if (!allowed.test(xml)) throw new Error('a character that XML 1.0 forbids');
  const root: ReadElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let end = 0;
  for (const match of xml.matchAll(token)) {
    if (match.index !== end) break;
    end += match[0].length;
    const groups = match.groups ?? {};
    const parent = open.at(-1)!;
    if (groups['open'] !== undefined) {
      const element = { name: groups['open'], attributes: attributesOf(groups), children: [], text: '' };
      parent.children.push(element);
      if (groups['empty'] === '') open.push(element);
    } else if (groups['close'] !== undefined) {
      if (open.pop()?.name !== groups['close']) throw new Error(`</${groups['close']}> closes nothing`);
    } else {
      parent.text += groups['cdata'] ?? unescaped((groups['text'] ?? '').trim());
    }
  }
  if (end !== xml.length) throw new Error(`not well-formed at ${end}: ${xml.slice(end, end + 60)}`);
  const [only, ...others] = root.children;
  if (open.length !== 1 || !only || others.length > 0) throw new Error('not one closed root');
  return only;
}

/** Returns all descendants of an element with this name. */
export function all(element: ReadElement, name: string): ReadElement[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...all(child, name)]);
}

function attributesOf({ attributes = '' }: Record<string, string | undefined>): Record<string, string> {
  const pairs = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [
    name,
    unescaped((value ?? '').replaceAll(/[\n\t\r]/g, ' ')),
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function unescaped(text: string): string {
  return text.replaceAll(/&([#\w]*);?/g, (whole, name: string) => {
    const character = entities[name];
    if (character === undefined || !whole.endsWith(';')) throw new Error(`not an entity: ${whole}`);
    return character;
  });
}
