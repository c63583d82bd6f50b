import { isAlias, isCollection, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { lineStartOf } from './diagnostic.js';

/** Offsets in the text, the end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The document that paths lead into: its root, and the text that it was made of. */
export interface Place {
  readonly root: Node | null;
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
export function locate({ root, text }: Place, path: readonly PropertyKey[], part: 'key' | 'value'): Span {
  let key: Span = spanOf(root) ?? { start: 0, end: text.length };
  let value: unknown = root;
  let whole = true;
  for (const step of path) {
    const node = follow(value, root);
    const pair = isMap(node) ? findPair(node, step, root) : null;
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
export function sectionEnd(root: Node | null, path: readonly PropertyKey[]): number {
  const pair = isMap(root) && path[0] !== undefined ? findPair(root, path[0], root) : null;
  return spanOf(pair?.value)?.end ?? Number.POSITIVE_INFINITY;
}

function spanOf(node: unknown): Span | null {
  const range = (node as Node | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : null;
}

function findPair(map: YAMLMap, key: PropertyKey, root: Node | null): Pair | null {
  const own = pairsOf(map).get(String(key));
  if (own) return own;
  for (const pair of map.items.filter(isMergePair)) {
    const source = follow(pair.value, root);
    const merged = isSeq(source) ? source.items.map((item) => follow(item, root)) : [source];
    for (const other of merged) {
      const found = isMap(other) ? findPair(other, key, root) : null;
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

/** What an alias stands for: the last node of that anchor above it. */
function follow(node: unknown, root: Node | null): unknown {
  if (!isAlias(node) || !root) return node;
  const source = node.source;
  const before = node.range?.[0] ?? Number.POSITIVE_INFINITY;
  let found: Node | undefined;
  walk(root, (one) => {
    if ('anchor' in one && one.anchor === source && (one.range?.[0] ?? 0) < before) found = one;
  });
  return found;
}

function walk(node: unknown, see: (node: Node) => void): void {
  if (isScalar(node)) return see(node);
  if (isSeq(node)) {
    see(node);
    node.items.forEach((item) => walk(item, see));
  }
  if (isMap(node)) {
    see(node);
    node.items.forEach((pair) => walk(pair.value, see));
  }
}
