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

/** Offsets in the text, with an exclusive end. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A document and the text that it was parsed from. */
export interface Place {
  readonly doc: Document;
  readonly text: string;
}

/** Whether `<<` merges other mappings into this one. */
export function isMergePair({ key }: Pair): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.source === '<<';
}

/**
 * Returns where the key or value at a path is written, looking through aliases and merges. A missing part maps to the nearest existing key
 * above it; an empty value, or a collection that begins on another line, maps to its key.
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

/** Returns where the section of a path's first key ends; infinite if there is no such key. */
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

/** A cache: a file full of mistakes looks up each of its keys, and searching for each one would take minutes. */
const known = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

/** Returns the pairs of a mapping by key. For a duplicate key, the last pair counts. */
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
