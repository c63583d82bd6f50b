import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { lineStartOf } from './diagnostic.js';

/** Offsets in the text, the end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The document that paths lead into, and the text that it was made of. */
export interface Place {
  readonly doc: Document;
  readonly text: string;
}

/** Whether `<<` merges other mappings into this one. */
export function isMergePair({ key }: Pair): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.source === '<<';
}

/**
 * Where the key or the value at a path is written, through aliases and merged mappings. What is not written is shown at
 * the nearest key above it, and so is an empty value, or one that begins below its key.
 */
export function locate({ doc, text }: Place, path: readonly PropertyKey[], part: 'key' | 'value'): Span {
  let key: Span = spanOf(doc.contents) ?? { start: 0, end: text.length };
  let value: unknown = doc.contents;
  let whole = true;
  for (const step of path) {
    const node = follow(value, doc);
    const pair = isMap(node) ? findPair(node, step, doc) : null;
    const item = isSeq(node) && typeof step === 'number' ? node.items[step] : undefined;
    whole = pair !== null || item !== undefined;
    if (!whole) break;
    key = spanOf(pair ? pair.key : item) ?? key;
    value = pair ? pair.value : item;
  }
  const span = part === 'value' && whole ? spanOf(value) : null;
  if (!span || span.start === span.end) return key;
  return isCollection(value) && lineStartOf(text, span.start) !== lineStartOf(text, key.start) ? key : span;
}

/** Where the part of the file ends that a path's first key begins; infinite where there is no such key. */
export function sectionEnd(doc: Document, path: readonly PropertyKey[]): number {
  const { contents } = doc;
  const pair = isMap(contents) && path[0] !== undefined ? findPair(contents, path[0], doc) : null;
  return spanOf(pair?.value)?.end ?? Number.POSITIVE_INFINITY;
}

function spanOf(node: unknown): Span | null {
  const range = (node as Node | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : null;
}

function findPair(map: YAMLMap, key: PropertyKey, doc: Document): Pair | null {
  const own = pairsOf(map).get(String(key));
  if (own) return own;
  for (const pair of map.items.filter(isMergePair)) {
    const source = follow(pair.value, doc);
    const merged = isSeq(source) ? source.items.map((item) => follow(item, doc)) : [source];
    for (const other of merged) {
      const found = isMap(other) ? findPair(other, key, doc) : null;
      if (found) return found;
    }
  }
  return null;
}

/** A file of nothing but mistakes is asked for each of its keys; to search for each would take minutes. */
const known = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** The pairs of a mapping by key; of a key that is given twice the last one, which is the one that counts. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  const before = known.get(map);
  if (before) return before;
  const pairs = new Map(
    map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])),
  );
  known.set(map, pairs);
  return pairs;
}

function follow(node: unknown, doc: Document): unknown {
  return isAlias(node) ? node.resolve(doc) : node;
}
