import { z } from 'zod';
import { jsonOf } from '../../json-of.js';
import { isSecretField } from '../../secrets/secret-fields.js';
import { record, text, looseText } from './loose.js';

/** An element of a page as a trace recorded it. Names of tags and attributes are in lower case. */
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
const mostNodes = 200_000;
const deepest = 500;
/** The prefix of what Playwright records of an element besides its attributes: `__playwright_value_`, `__playwright_shadow_root_` … */
const recorded = '__playwright_';

/** The attribute with which a template stands for a shadow root. */
export const shadowRoot = `${recorded}shadow_root_`;
/** The attribute with what is typed into a field. */
export const typedValue = `${recorded}value_`;
/** The attribute that says whether a box is checked. */
export const checkedState = `${recorded}checked_`;
/** Whether an attribute belongs to the page, rather than to Playwright's recording. */
export function isOfPage(attribute: string): boolean {
  return !attribute.startsWith(recorded);
}

/** Returns the text of a node and what is in it. */
export function nodeText(node: DomNode): string {
  if (typeof node === 'string') return node;
  return node.children.map(nodeText).join(node.tag === 'br' ? '\n' : '');
}

/** Returns the texts of the labels of a page, by the ids of their fields. */
export function labelsIn(root: DomElement): Map<string, string> {
  const labels = new Map<string, string>();
  const look = (node: DomNode): void => {
    if (typeof node === 'string') return;
    const { for: id } = node.attributes;
    if (node.tag === 'label' && id) labels.set(id, nodeText(node).replaceAll(/\s+/g, ' ').trim());
    node.children.forEach(look);
  };
  look(root);
  return labels;
}

/** The mask of what was typed into a field for a secret. */
export const masked = '[masked: value]';

/** Returns a page without what is in its fields for secrets, which is added to `typed`. */
function withMaskedFields(root: DomElement, typed: Set<string>): DomElement {
  const labels = labelsIn(root);
  const visit = (node: DomNode, around: string): DomNode => {
    if (typeof node === 'string') return node;
    const { attributes } = node;
    const label = node.tag === 'label' ? nodeText(node) : around;
    const field = { ...attributes, label: labels.get(attributes['id'] ?? '') ?? label };
    const isHeld = ([name, value]: [string, string]) =>
      value !== '' && (name === 'value' || name === typedValue);
    const secrets = Object.entries(attributes).filter((pair) => isHeld(pair) && isSecretField(field));
    secrets.forEach(([, value]) => typed.add(value));
    const masks = { ...attributes, ...Object.fromEntries(secrets.map(([name]) => [name, masked])) };
    return { ...node, attributes: masks, children: node.children.map((child) => visit(child, label)) };
  };
  return visit(root, '') as DomElement;
}

/** Characters that change when a text is put on one line and in quotes. A secret with such characters has to be found before. */
const changes = /\s\s|[\n\r\t"\\]/;

/** Returns a copy of a page with clean texts, where a secret could not be recognized after rendering. */
export function cleanPage(root: DomElement, clean: (text: string) => string): DomElement {
  const cleaned = (text: string) =>
    text.length > 5 && changes.test(text) && text.trim() !== '' ? clean(text) : text;
  const visit = (node: DomNode): DomNode =>
    typeof node === 'string'
      ? cleaned(node)
      : {
          ...node,
          attributes: Object.fromEntries(
            Object.entries(node.attributes).map(([name, text]) => [name, cleaned(text)]),
          ),
          children: node.children.map(visit),
        };
  return visit(root) as DomElement;
}

const treeIn = record({ snapshot: record({ html: z.unknown().optional() }) });
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * The snapshots of one document. A snapshot is a tree of `[name, attributes, ...children]`; a node that has not changed is
 * `[[snapshots ago, number in that snapshot]]`, so that none can be read without the earlier ones.
 */
export class DocumentSnapshots {
  /** As lines of the trace, since a tree takes many times the memory of its text. */
  readonly #lines: string[] = [];
  readonly #trees = new Map<number, unknown>();
  readonly #numbered = new Map<number, readonly unknown[]>();

  /** Adds the line of the next snapshot of the document; empty if it was not kept. */
  push(line: string): void {
    this.#lines.push(line);
  }

  #tree(at: number): unknown {
    if (!this.#trees.has(at)) this.#trees.set(at, treeIn.parse(jsonOf(this.#lines[at] ?? '')).snapshot.html);
    return this.#trees.get(at);
  }

  /** Returns the latest snapshot as a tree; null if it refers to what was not kept. */
  latest(): DomElement | null {
    let remaining = mostNodes;
    const resolve = (node: unknown, at: number, depth: number): DomNode | null => {
      remaining -= 1;
      if (remaining < 0 || depth > deepest) return null;
      if (typeof node === 'string') return node;
      const [first, second, ...rest] = listOf(node);
      if (Array.isArray(first)) {
        const earlier = at - Number(first[0]);
        const referenced =
          earlier >= 0 && earlier <= at ? this.#nodesOf(earlier)[Number(first[1])] : undefined;
        return referenced === undefined ? null : resolve(referenced, earlier, depth + 1);
      }
      if (typeof first !== 'string') return null;
      const children = rest.flatMap((child) => resolve(child, at, depth + 1) ?? []);
      return { tag: first.toLowerCase(), attributes: attributesOf(second), children };
    };
    const at = this.#lines.length - 1;
    const root = resolve(this.#tree(at), at, 0);
    return root === null || typeof root === 'string' || remaining < 0 ? null : root;
  }

  /** Returns the nodes that a snapshot contains itself, in the order of their end tags, by which others refer to them. */
  #nodesOf(at: number): readonly unknown[] {
    const known = this.#numbered.get(at);
    if (known) return known;
    const nodes: unknown[] = [];
    const visit = (node: unknown, depth: number): void => {
      if (typeof node === 'string') return void nodes.push(node);
      const [first, , ...rest] = listOf(node);
      if (typeof first !== 'string' || depth > deepest) return;
      for (const child of rest) visit(child, depth + 1);
      nodes.push(node);
    };
    visit(this.#tree(at), 0);
    this.#numbered.set(at, nodes);
    return nodes;
  }
}

function attributesOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, attribute]) =>
      typeof attribute === 'string' ? [[name.toLowerCase(), attribute]] : [],
    ),
  );
}

/**
 * Returns a page with its main frame and, in place, what its iframes showed; null if the main frame is unknown. What is in fields for secrets
 * is masked, and added to `typed`.
 */
export function pageOf(frames: readonly FrameDom[], typed: Set<string>): PageDom | null {
  const main = frames.findLast(({ isMainFrame }) => isMainFrame);
  if (!main) return null;
  const byId = new Map(frames.map((frame) => [frame.frameId, frame]));
  const filled = (node: DomNode, depth: number): DomNode => {
    if (typeof node === 'string' || depth > deepest) return node;
    const source = node.attributes['src'] ?? node.attributes[`${recorded}src__`] ?? '';
    const inner = /^i?frame$/.test(node.tag) ? byId.get(source.replace('/snapshot/', '')) : undefined;
    const children = inner
      ? [filled(inner.root, depth + 1)]
      : node.children.map((child) => filled(child, depth + 1));
    return { ...node, children };
  };
  return { url: main.url, root: withMaskedFields(filled(main.root, 0) as DomElement, typed) };
}

/** The frame and the moment of a `frame-snapshot` line, without its tree. */
export const frameSnapshot = record({
  snapshot: record({
    callId: text,
    frameId: text,
    pageId: text,
    frameUrl: text,
    isMainFrame: z.boolean().catch(false),
    // Newer traces have it apart from the snapshot's name.
    phase: looseText,
    snapshotName: text,
  }),
}).transform(({ snapshot: { frameUrl: url, phase, snapshotName, ...rest } }) => ({
  ...rest,
  url,
  phase: phase ?? snapshotName,
}));
