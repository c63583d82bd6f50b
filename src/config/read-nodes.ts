import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { closest } from './closest.js';
import { type Diagnostic, lineNumberAt, lineStartOf } from './diagnostic.js';

/** Variables for `${NAME}`, or null to leave it as it is written. */
export type Variables = Readonly<Record<string, string | undefined>> | null;

/** Offsets in the text, with an exclusive end. */
export type Span = Pick<Diagnostic, 'start' | 'end'>;

/** How many aliases are followed, against "billion laughs" attacks. */
export const MAX_ALIAS_COUNT = 100;

/** How deep an alias may be, and after how many values; a valid file has a few levels and a few hundred values. */
const [MAX_NESTED, MAX_PARTS] = [200, 200_000];

type Path = readonly PropertyKey[];

/**
 * Reads the plain data of a document in one walk that follows aliases and merges, replaces `${VAR}`, and remembers where each value is
 * written. Finds the mistakes that the parser does not: duplicate keys, aliases and merges that cannot be resolved, invalid `${VAR}`.
 */
export class NodeReader {
  readonly data: unknown;
  /** What is reached through several aliases has its mistakes several times. */
  readonly mistakes: Diagnostic[] = [];
  /** How many aliases were followed; none beyond the limit. */
  aliases = 0;
  readonly #text: string;
  readonly #env: Variables;
  readonly #anchors = new Map<string, Node[]>();
  /** By path: the key, or the item of a list, and the value. */
  readonly #places = new Map<string, { readonly key: Span; readonly value: unknown }>();

  constructor(doc: Document, text: string, env: Variables) {
    [this.#text, this.#env] = [text, env];
    visit(doc, {
      Value: (_, node) => {
        if (!node.anchor) return;
        const others = this.#anchors.get(node.anchor);
        if (others) others.push(node);
        else this.#anchors.set(node.anchor, [node]);
      },
    });
    this.data = this.#part({ key: doc.contents, value: doc.contents }, [], []);
  }

  /**
   * Returns where the key or value at a path is written. A missing part maps to the nearest existing key above it; an empty value, or a
   * collection that begins on another line, maps to its key.
   */
  locate(path: Path, part: 'key' | 'value'): Span {
    const place = this.#places.get(JSON.stringify(path));
    if (!place) return this.locate(path.slice(0, -1), 'key');
    const { key, value } = place;
    const span = part === 'value' ? spanOf(value) : null;
    if (!span || span.start === span.end) return key;
    const isBelow = lineStartOf(this.#text, span.start) !== lineStartOf(this.#text, key.start);
    return isCollection(value) && isBelow ? key : span;
  }

  /** Returns where the section of a path's first key ends; infinite if there is no such key. */
  sectionEnd(path: Path): number {
    const section = this.#places.get(JSON.stringify(path.slice(0, 1)));
    return spanOf(section?.value)?.end ?? Number.POSITIVE_INFINITY;
  }

  #part({ key, value }: Pick<Pair, 'key' | 'value'>, path: Path, above: readonly unknown[]): unknown {
    const start = { start: 0, end: this.#text.length };
    this.#places.set(JSON.stringify(path), { key: spanOf(key) ?? start, value });
    return this.#read(value, path, above);
  }

  #read(node: unknown, path: Path, above: readonly unknown[]): unknown {
    const inside = [...above, node];
    // An alias that cannot be resolved reads as an empty text, whose own mistakes are not reported.
    if (isAlias(node)) return this.#read(this.#target(node, above) ?? '', path, inside);
    if (isSeq(node))
      return node.items.map((item, at) => this.#part({ key: item, value: item }, [...path, at], inside));
    if (isMap(node)) {
      const pairs = [...this.#pairsOf(node, inside)];
      return Object.fromEntries(pairs.map(([key, pair]) => [key, this.#part(pair, [...path, key], inside)]));
    }
    return isScalar(node) ? this.#interpolated(node) : node;
  }

  /** Returns the pairs of a mapping by key: its own, and those that `<<` merges into it. */
  #pairsOf(map: YAMLMap, above: readonly unknown[]): Map<string, Pair> {
    const own = new Map<string, Pair>();
    const merged = new Map<string, Pair>();
    for (const pair of map.items) {
      const { key } = pair;
      if (!isScalar(key)) continue;
      const before = own.get(String(key.value))?.key;
      if (key.type === 'PLAIN' && key.source === '<<') {
        // Of several mappings with the same key, the first counts.
        for (const [name, one] of this.#mergedBy(pair, above)) if (!merged.has(name)) merged.set(name, one);
      } else if (!before) own.set(String(key.value), pair);
      else
        this.#complain(
          key,
          `duplicate key "${String(key.value)}", first used in line ${this.#lineOf(before)}`,
        );
    }
    return new Map([...merged, ...own]);
  }

  #mergedBy({ key, value: given }: Pair, above: readonly unknown[]): [string, Pair][] {
    // Without a colon there is no value at all.
    const value = given ?? key;
    const resolved = (node: unknown) => (isAlias(node) ? this.#target(node, above) : node);
    const source = resolved(value);
    const maps = isSeq(source) ? source.items.map(resolved) : [source];
    if (maps.some((one) => one !== null && !isMap(one)))
      this.#complain(value as Node, 'only mappings can be merged with "<<"');
    return maps.flatMap((one) => (isMap(one) ? [...this.#pairsOf(one, [...above, one])] : []));
  }

  /** Returns the node that an alias stands for, or null. */
  #target(alias: Alias, above: readonly unknown[]): Node | null {
    const { start } = spanOf(alias) ?? { start: 0 };
    const named = this.#anchors.get(alias.source) ?? [];
    const target = named.findLast((node) => (spanOf(node)?.start ?? 0) < start);
    if (target && !above.includes(target)) {
      // Few aliases can be too many as well, if they nest or stand for much.
      const isTooMuch = above.length > MAX_NESTED || this.#places.size > MAX_PARTS;
      this.aliases += isTooMuch ? MAX_ALIAS_COUNT : 1;
      return this.aliases > MAX_ALIAS_COUNT ? null : target;
    }
    const near = closest(alias.source, this.#anchors.keys());
    const hint = near === null || near === alias.source ? '' : `; did you mean *${near}?`;
    const missing = `there is no anchor &${alias.source} before this alias${hint}`;
    this.#complain(alias, target ? 'this alias contains itself' : missing);
    return null;
  }

  /**
   * Replaces each `${NAME}` in a string with the environment variable, and `$${` with `${`. An unset variable and any other form of
   * `${` are mistakes. Replaced text is not expanded again.
   */
  #interpolated(scalar: Scalar): unknown {
    const env = this.#env;
    if (env === null || typeof scalar.value !== 'string') return scalar.value;
    const whole = spanOf(scalar) ?? { start: 0, end: 0 };
    let from = whole.start;
    const complain = (written: string, message: string) => {
      const start = this.#text.indexOf(written, from);
      const end = start + written.length;
      // In a double-quoted string, the characters may be written as escapes. The whole string is marked then.
      const isSeen = start !== -1 && end <= whole.end;
      if (isSeen) from = end;
      this.mistakes.push({ ...(isSeen ? { start, end } : whole), message });
    };
    return scalar.value.replace(VARIABLE, (written: string, name?: string) => {
      if (written === '$${') return '${';
      if (name === undefined) complain(written, 'only ${NAME} is replaced; write $${ for a literal ${');
      else if (env[name] === undefined) complain(written, `the environment variable ${name} is not set`);
      return (name === undefined ? undefined : env[name]) ?? written;
    });
  }

  #lineOf(node: unknown): number {
    return lineNumberAt(this.#text, spanOf(node)?.start ?? 0);
  }

  #complain(node: Node | null, message: string): void {
    const { start, end } = spanOf(node) ?? { start: 0, end: 1 };
    this.mistakes.push({ start, end, message });
  }
}

/** Matches `${NAME}`, the escaped `$${`, and any other use of `${`. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

function spanOf(node: unknown): Span | null {
  const range = (node as Node | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : null;
}
