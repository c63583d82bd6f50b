import { z } from 'zod';
import { parseJson } from '../../parse-json.js';
import { isSecretField } from '../../secrets/secret-fields.js';
import { record, text, textOrNull } from './loose.js';

/** A recorded element on a page. Tag and attribute names are in lower case. */
export interface DomElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly DomNode[];
}
/** An element, or a text. */
export type DomNode = DomElement | string;

/** A frame of a page at one moment. */
export interface FrameDom {
  readonly frameId: string;
  readonly pageId: string;
  readonly url: string;
  readonly isMainFrame: boolean;
  readonly root: DomElement;
}

/** A page at one moment: its main frame, with the documents of its iframes as their children. */
export type PageDom = Pick<FrameDom, 'url' | 'root'>;

/** The maximum number of nodes of a page. A hostile trace may refer to the same nodes again and again. */
const MAX_NODES = 200_000;
const MAX_DEPTH = 500;
/** The prefix of attributes that Playwright adds when it records: `__playwright_value_`, `__playwright_shadow_root_` … */
const PLAYWRIGHT_PREFIX = '__playwright_';

/** The attribute that marks a template as a shadow root. */
export const shadowRoot = `${PLAYWRIGHT_PREFIX}shadow_root_`;
/** The attribute with the value of a field. */
export const typedValue = `${PLAYWRIGHT_PREFIX}value_`;
/** The attribute with the state of a checkbox. */
export const checkedState = `${PLAYWRIGHT_PREFIX}checked_`;
/** True for an attribute of the page, false for one that Playwright added. */
export function isPageAttribute(attribute: string): boolean {
  return !attribute.startsWith(PLAYWRIGHT_PREFIX);
}

/** Returns the text of a node and its descendants. */
export function readNodeText(node: DomNode): string {
  if (typeof node === 'string') return node;
  return node.children.map(readNodeText).join(node.tag === 'br' ? '\n' : '');
}

/** Returns the texts of the labels of a page, by the ids of their fields. */
export function readLabels(root: DomElement): Map<string, string> {
  const labels = new Map<string, string>();
  const visit = (node: DomNode): void => {
    if (typeof node === 'string') return;
    const { for: id } = node.attributes;
    if (node.tag === 'label' && id) labels.set(id, readNodeText(node).replaceAll(/\s+/g, ' ').trim());
    node.children.forEach(visit);
  };
  visit(root);
  return labels;
}

/** The mask for the value of a secret field. */
export const maskedValue = '[masked: value]';

/** Masks the values of a page's secret fields, and adds them to `typed`. */
function maskSecretFields(root: DomElement, typed: Set<string>): DomElement {
  const labels = readLabels(root);
  const visit = (node: DomNode, enclosingLabel: string): DomNode => {
    if (typeof node === 'string') return node;
    const { attributes } = node;
    const label = node.tag === 'label' ? readNodeText(node) : enclosingLabel;
    const field = { ...attributes, label: labels.get(attributes['id'] ?? '') ?? label };
    const holdsValue = ([name, value]: [string, string]) =>
      value !== '' && (name === 'value' || name === typedValue);
    const secrets = Object.entries(attributes).filter((pair) => holdsValue(pair) && isSecretField(field));
    secrets.forEach(([, value]) => typed.add(value));
    const masks = { ...attributes, ...Object.fromEntries(secrets.map(([name]) => [name, maskedValue])) };
    return { ...node, attributes: masks, children: node.children.map((child) => visit(child, label)) };
  };
  return visit(root, '') as DomElement;
}

/** Characters that change when a text is rendered on one line in quotes; a secret that contains them must be masked before that. */
const alteredByRendering = /\s\s|[\n\r\t"\\]/;

/** Cleans the texts on a page in which a secret could not be recognized after rendering. */
export function cleanPage(root: DomElement, clean: (text: string) => string): DomElement {
  const cleanIfNeeded = (text: string) =>
    text.length > 5 && alteredByRendering.test(text) && text.trim() !== '' ? clean(text) : text;
  const visit = (node: DomNode): DomNode =>
    typeof node === 'string'
      ? cleanIfNeeded(node)
      : {
          ...node,
          attributes: Object.fromEntries(
            Object.entries(node.attributes).map(([name, text]) => [name, cleanIfNeeded(text)]),
          ),
          children: node.children.map(visit),
        };
  return visit(root) as DomElement;
}

const snapshotTree = record({ snapshot: record({ html: z.unknown().optional() }) });
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * The snapshots of one document. A snapshot is a tree of `[name, attributes, ...children]`. An unchanged node is
 * `[[snapshots ago, number in that snapshot]]`, so reading a snapshot needs the earlier ones.
 */
export class DocumentSnapshots {
  /** Lines of the trace, because a parsed tree takes many times the memory of its text. */
  readonly #lines: string[] = [];
  readonly #trees = new Map<number, unknown>();
  readonly #numberedNodes = new Map<number, readonly unknown[]>();

  /** Adds the line of the document's next snapshot, or an empty string if it was not kept. */
  push(line: string): void {
    this.#lines.push(line);
  }

  #readTree(at: number): unknown {
    if (!this.#trees.has(at))
      this.#trees.set(at, snapshotTree.parse(parseJson(this.#lines[at] ?? '')).snapshot.html);
    return this.#trees.get(at);
  }

  /** Returns the latest snapshot as a tree; null if it refers to a snapshot that was not kept. */
  resolveLatestSnapshot(): DomElement | null {
    let remaining = MAX_NODES;
    const resolve = (node: unknown, at: number, depth: number): DomNode | null => {
      remaining -= 1;
      if (remaining < 0 || depth > MAX_DEPTH) return null;
      if (typeof node === 'string') return node;
      const [first, second, ...rest] = toList(node);
      if (Array.isArray(first)) {
        const earlierIndex = at - Number(first[0]);
        const referenced =
          earlierIndex >= 0 && earlierIndex <= at
            ? this.#numberNodes(earlierIndex)[Number(first[1])]
            : undefined;
        return referenced === undefined ? null : resolve(referenced, earlierIndex, depth + 1);
      }
      if (typeof first !== 'string') return null;
      const children = rest.flatMap((child) => resolve(child, at, depth + 1) ?? []);
      return { tag: first.toLowerCase(), attributes: readAttributes(second), children };
    };
    const at = this.#lines.length - 1;
    const root = resolve(this.#readTree(at), at, 0);
    return root === null || typeof root === 'string' || remaining < 0 ? null : root;
  }

  /** Returns the nodes of a snapshot in the order of their end tags, in which other snapshots number them. */
  #numberNodes(at: number): readonly unknown[] {
    const cached = this.#numberedNodes.get(at);
    if (cached) return cached;
    const nodes: unknown[] = [];
    const visit = (node: unknown, depth: number): void => {
      if (typeof node === 'string') return void nodes.push(node);
      const [first, , ...rest] = toList(node);
      if (typeof first !== 'string' || depth > MAX_DEPTH) return;
      for (const child of rest) visit(child, depth + 1);
      nodes.push(node);
    };
    visit(this.#readTree(at), 0);
    this.#numberedNodes.set(at, nodes);
    return nodes;
  }
}

function readAttributes(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, attribute]) =>
      typeof attribute === 'string' ? [[name.toLowerCase(), attribute]] : [],
    ),
  );
}

/**
 * Composes a page from its main frame and the documents of its iframes; null if the main frame is unknown. Masks the values of secret fields, and
 * adds them to `typed`.
 */
export function composePage(frames: readonly FrameDom[], typed: Set<string>): PageDom | null {
  const main = frames.findLast(({ isMainFrame }) => isMainFrame);
  if (!main) return null;
  const byId = new Map(frames.map((frame) => [frame.frameId, frame]));
  const embedFrames = (node: DomNode, depth: number): DomNode => {
    if (typeof node === 'string' || depth > MAX_DEPTH) return node;
    const source = node.attributes['src'] ?? node.attributes[`${PLAYWRIGHT_PREFIX}src__`] ?? '';
    const inner = /^i?frame$/.test(node.tag) ? byId.get(source.replace('/snapshot/', '')) : undefined;
    const children = inner
      ? [embedFrames(inner.root, depth + 1)]
      : node.children.map((child) => embedFrames(child, depth + 1));
    return { ...node, children };
  };
  return { url: main.url, root: maskSecretFields(embedFrames(main.root, 0) as DomElement, typed) };
}

/** The frame and the moment of a `frame-snapshot` line, without its tree. */
export const frameSnapshot = record({
  snapshot: record({
    callId: text,
    frameId: text,
    pageId: text,
    frameUrl: text,
    isMainFrame: z.boolean().catch(false),
    // Newer traces have the phase in a separate field.
    phase: textOrNull,
    snapshotName: text,
  }),
}).transform(({ snapshot: { frameUrl: url, phase, snapshotName, ...rest } }) => ({
  ...rest,
  url,
  phase: phase ?? snapshotName,
}));
