import {
  checkedState,
  type DomElement,
  type DomNode,
  isOfPage,
  labelsIn,
  selectedState,
  shadowRoot,
  textOf,
  typedValue,
} from './dom.js';

/** A node of the accessibility tree, or a text. */
interface AriaNode {
  readonly role: string;
  readonly name: string;
  readonly states: readonly string[];
  readonly children: readonly (AriaNode | string)[];
}

/** The roles that elements have without an attribute that says so. */
const roles: Readonly<Record<string, string>> = {
  article: 'article',
  aside: 'complementary',
  blockquote: 'blockquote',
  button: 'button',
  code: 'code',
  dd: 'definition',
  details: 'group',
  dialog: 'dialog',
  dt: 'term',
  em: 'emphasis',
  fieldset: 'group',
  figure: 'figure',
  footer: 'contentinfo',
  form: 'form',
  header: 'banner',
  hr: 'separator',
  iframe: 'iframe',
  img: 'img',
  li: 'listitem',
  main: 'main',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  search: 'search',
  section: 'region',
  strong: 'strong',
  summary: 'button',
  svg: 'img',
  table: 'table',
  tbody: 'rowgroup',
  td: 'cell',
  textarea: 'textbox',
  tfoot: 'rowgroup',
  th: 'columnheader',
  thead: 'rowgroup',
  time: 'time',
  tr: 'row',
  ul: 'list',
};
const inputRoles: Readonly<Record<string, string>> = {
  button: 'button',
  checkbox: 'checkbox',
  image: 'button',
  number: 'spinbutton',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
};
/** Roles that only a name makes worth telling. */
const needName = new Set(['form', 'region', 'section']);
/** Roles whose name is their content. */
const namedByContent = new Set(
  'button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem'.split(
    ' ',
  ),
);
const unseen = new Set(
  'head script style template noscript link meta title base datalist source track param'.split(' '),
);
/** Elements within which a header or footer is not that of the page. */
const sections = new Set(['article', 'aside', 'main', 'nav', 'section']);

/**
 * Renders a page as Playwright renders its accessibility snapshots (YAML); empty if the page is blank. A trace does not say how the page
 * is styled, so that what only a style sheet hides is shown.
 */
export function accessibilityTree(root: DomElement): string {
  const byId = new Map<string, DomElement>();
  const labels = labelsIn(root);
  index(root, byId);
  const lines: string[] = [];
  for (const node of merged(childrenOf(root, { byId, labels, isInSection: false }))) write(node, 0, lines);
  return lines.join('\n');
}

interface Place {
  readonly byId: ReadonlyMap<string, DomElement>;
  /** The texts of labels, by the id of what they label. */
  readonly labels: ReadonlyMap<string, string>;
  readonly isInSection: boolean;
}

function index(node: DomNode, byId: Map<string, DomElement>): void {
  if (typeof node === 'string') return;
  const { id } = node.attributes;
  if (id && !byId.has(id)) byId.set(id, node);
  for (const child of node.children) index(child, byId);
}

function childrenOf(element: DomElement, place: Place): (AriaNode | string)[] {
  const shadow = element.children.find((one) => typeof one !== 'string' && isShadowRoot(one));
  const shown = shadow !== undefined && typeof shadow !== 'string' ? shadow.children : element.children;
  const isInSection = place.isInSection || sections.has(element.tag);
  return shown.flatMap((child) => nodesOf(child, { ...place, isInSection }));
}

function isShadowRoot({ tag, attributes }: DomElement): boolean {
  return tag === 'template' && shadowRoot in attributes;
}

function nodesOf(node: DomNode, place: Place): (AriaNode | string)[] {
  if (typeof node === 'string') return [node];
  if (node.tag === 'br') return ['\n'];
  if (isHidden(node)) return [];
  const role = roleOf(node, place);
  const children = node.tag === 'textarea' || node.tag === 'svg' ? [] : merged(childrenOf(node, place));
  if (role === null) return isBlock(node) ? ['\n', ...children, '\n'] : children;
  const name = nameOf(node, role, place);
  if ((needName.has(role) || node.tag === 'svg') && name === '') return children;
  const value = valueOf(node);
  return [{ role, name, states: statesOf(node, role), children: value === '' ? children : [value] }];
}

function isHidden({ tag, attributes }: DomElement): boolean {
  if (unseen.has(tag) && !(tag === 'template' && shadowRoot in attributes)) return true;
  if ('hidden' in attributes || attributes['aria-hidden'] === 'true') return true;
  if (tag === 'input' && attributes['type'] === 'hidden') return true;
  if (tag === 'dialog' && !('open' in attributes) && !('__playwright_dialog_open_' in attributes))
    return true;
  return /(?:^|;)\s*(?:display:\s*none|visibility:\s*hidden)/i.test(attributes['style'] ?? '');
}

function isBlock({ tag }: DomElement): boolean {
  return !/^(?:a|abbr|b|bdi|bdo|cite|i|kbd|label|mark|q|s|samp|small|span|sub|sup|u|var)$/.test(tag);
}

function roleOf(element: DomElement, { isInSection }: Place): string | null {
  const { tag, attributes } = element;
  const [given] = (attributes['role'] ?? '').trim().split(/\s+/);
  if (given) return /^(?:presentation|none|generic)$/.test(given) ? null : given;
  if (/^h[1-6]$/.test(tag)) return 'heading';
  if (tag === 'a' || tag === 'area') return 'href' in attributes ? 'link' : null;
  if (tag === 'input') return inputRoles[attributes['type']?.toLowerCase() ?? ''] ?? 'textbox';
  if (tag === 'select') return 'multiple' in attributes ? 'listbox' : 'combobox';
  if ((tag === 'header' || tag === 'footer') && isInSection) return null;
  if (tag === 'img' && attributes['alt'] === '') return null;
  return Object.hasOwn(roles, tag) ? (roles[tag] ?? null) : null;
}

function nameOf(element: DomElement, role: string, { byId, labels }: Place): string {
  const { tag, attributes } = element;
  const ids = (attributes['aria-labelledby'] ?? '').split(/\s+/).filter(Boolean);
  const referred = ids.flatMap((id) => byId.get(id) ?? []).map((one) => spaced(textOf(one)));
  const type = attributes['type']?.toLowerCase() ?? '';
  const isButton = tag === 'input' && inputRoles[type] === 'button';
  const inside = (one: string) =>
    element.children.find((child) => typeof child !== 'string' && child.tag === one);
  const titled = { figure: 'figcaption', fieldset: 'legend', table: 'caption', svg: 'title' }[tag];
  const title = titled === undefined ? undefined : inside(titled);
  const candidates = [
    referred.join(' '),
    attributes['aria-label'],
    attributes['id'] && labels.get(attributes['id']),
    attributes['alt'],
    isButton && (attributes['value'] ?? { submit: 'Submit', reset: 'Reset' }[type]),
    title && spaced(textOf(title)),
    namedByContent.has(role) && spaced(visibleText(element)),
    attributes['title'],
    /^(?:textbox|searchbox|spinbutton)$/.test(role) && attributes['placeholder'],
  ];
  return spaced(candidates.find((one) => typeof one === 'string' && one.trim() !== '') || '');
}

/** The text of an element's content, with the names of pictures in it. */
function visibleText(node: DomNode): string {
  if (typeof node === 'string') return node;
  if (isHidden(node)) return '';
  const { attributes } = node;
  const label = attributes['aria-label'] ?? (node.tag === 'img' ? attributes['alt'] : undefined);
  return label ?? node.children.map(visibleText).join(isBlock(node) ? ' ' : '');
}

function valueOf({ tag, attributes, children }: DomElement): string {
  const type = attributes['type']?.toLowerCase() ?? 'text';
  if (tag === 'textarea') return attributes[typedValue] ?? children.map(textOf).join('');
  if (tag !== 'input' || inputRoles[type] === 'button') return '';
  if (type === 'checkbox' || type === 'radio' || type === 'file') return '';
  return attributes[typedValue] ?? attributes['value'] ?? '';
}

function statesOf({ tag, attributes }: DomElement, role: string): string[] {
  const isOn = (value: string | undefined) => value === 'true';
  const level = attributes['aria-level'] ?? /^h([1-6])$/.exec(tag)?.[1];
  const checked = attributes[checkedState] ?? attributes['aria-checked'];
  return [
    isOn(checked) ? 'checked' : checked === 'mixed' ? 'checked=mixed' : '',
    ('disabled' in attributes && isOfPage('disabled')) || isOn(attributes['aria-disabled']) ? 'disabled' : '',
    isOn(attributes['aria-expanded']) ? 'expanded' : '',
    role === 'heading' && level ? `level=${level}` : '',
    isOn(attributes['aria-pressed']) ? 'pressed' : '',
    isOn(attributes[selectedState] ?? attributes['aria-selected']) ? 'selected' : '',
  ].filter(Boolean);
}

/** Joins neighbouring texts, as they are read, and drops what is only space. */
function merged(nodes: readonly (AriaNode | string)[]): (AriaNode | string)[] {
  const joined: (AriaNode | string)[] = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (typeof node === 'string' && typeof last === 'string') joined[joined.length - 1] = last + node;
    else joined.push(node);
  }
  return joined.flatMap((node): (AriaNode | string)[] => {
    if (typeof node !== 'string') return [node];
    const text = spaced(node);
    return text === '' ? [] : [` ${text} `];
  });
}

function write(node: AriaNode | string, depth: number, lines: string[]): void {
  const indent = '  '.repeat(depth);
  if (typeof node === 'string') return void lines.push(`${indent}- text: ${quoted(node.trim())}`);
  const { role, name, states } = node;
  const key = [role, name && JSON.stringify(name), ...states.map((state) => `[${state}]`)]
    .filter(Boolean)
    .join(' ');
  const children = node.children.filter((one) => typeof one !== 'string' || one.trim() !== name);
  const [only] = children;
  const safe = /[:#]\s|^[&*!|>'%@`]/.test(key) ? `'${key.replaceAll("'", "''")}'` : key;
  if (children.length === 0) lines.push(`${indent}- ${safe}`);
  else if (children.length === 1 && typeof only === 'string')
    lines.push(`${indent}- ${safe}: ${quoted(only.trim())}`);
  else {
    lines.push(`${indent}- ${safe}:`);
    for (const child of children) write(child, depth + 1, lines);
  }
}

function quoted(text: string): string {
  return /^[-?:,[\]{}#&*!|>'"%@`]|: |\s#|:$/.test(text) ? JSON.stringify(text) : text;
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
