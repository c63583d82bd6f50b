import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
} from 'yaml';
import { type Diagnostic, lineStartOf } from './diagnostic.js';

/** Variables for `${NAME}`, or null to leave it as it is written. */
export type Variables = Readonly<Record<string, string | undefined>> | null;

/** Offsets in the text, with an exclusive end. */
export type Span = Pick<Diagnostic, 'start' | 'end'>;

type Path = readonly PropertyKey[];

/**
 * Reads the plain data of a document in one walk that replaces `${VAR}` and remembers where each value is written. Finds the mistakes that
 * the parser does not: aliases, which are not supported, and invalid `${VAR}`.
 */
export class NodeReader {
  readonly data: unknown;
  readonly mistakes: Diagnostic[] = [];
  readonly #text: string;
  readonly #env: Variables;
  /** By path: the key, or the item of a list, and the value. */
  readonly #places = new Map<string, { readonly key: Span; readonly value: unknown }>();

  constructor(doc: Document, text: string, env: Variables) {
    [this.#text, this.#env] = [text, env];
    this.data = this.#part({ key: doc.contents, value: doc.contents }, []);
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

  #part({ key, value }: Pick<Pair, 'key' | 'value'>, path: Path): unknown {
    const start = { start: 0, end: this.#text.length };
    this.#places.set(JSON.stringify(path), { key: spanOf(key) ?? start, value });
    if (isSeq(value))
      return value.items.map((item, at) => this.#part({ key: item, value: item }, [...path, at]));
    if (isMap(value)) return Object.fromEntries(value.items.flatMap((pair) => this.#entryOf(pair, path)));
    if (isAlias(value)) this.#complain(value, 'aliases are not supported: write the value here');
    return isScalar(value) ? this.#interpolated(value) : null;
  }

  #entryOf(pair: Pair, path: Path): [string, unknown][] {
    if (!isScalar(pair.key)) return [];
    const key = String(pair.key.value);
    return [[key, this.#part(pair, [...path, key])]];
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

  #complain(node: Node, message: string): void {
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
