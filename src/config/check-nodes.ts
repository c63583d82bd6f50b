import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { closest } from './closest.js';
import { type Diagnostic, lineNumberAt } from './diagnostic.js';
import { isMergePair } from './locate.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Finds mistakes that only the nodes of a document reveal: duplicate keys, aliases and merges that cannot be resolved (which it
 * removes, so that the rest can be read), and invalid uses of `${VAR}` (valid ones it replaces).
 */
export function checkNodes(doc: Document.Parsed, text: string, env: Env): Diagnostic[] {
  const found: Diagnostic[] = [];
  const anchors = new Map<string, Node>();
  const remember = (node: Node) => {
    if (!isAlias(node) && 'anchor' in node && node.anchor) anchors.set(node.anchor, node);
  };
  visit(doc, {
    Pair: (_, pair) => {
      const mistake = isMergePair(pair) ? checkMerge(pair, anchors) : null;
      if (!mistake) return undefined;
      found.push(mistake);
      return visit.REMOVE;
    },
    Map: (_, map) => {
      remember(map);
      found.push(...repeatedKeys(map, text));
    },
    Seq: (_, seq) => remember(seq),
    Scalar: (role, scalar) => {
      remember(scalar);
      if (role !== 'key') found.push(...interpolate(scalar, text, env));
    },
    Alias: (_, alias, parents) => {
      const mistake = checkAlias(alias, anchors, parents);
      if (!mistake) return undefined;
      found.push(mistake);
      return standIn(alias);
    },
  });
  return found;
}

function checkAlias(
  alias: Alias,
  anchors: ReadonlyMap<string, Node>,
  parents: readonly unknown[],
): Diagnostic | null {
  const target = anchors.get(alias.source);
  if (!target) {
    const near = closest(alias.source, anchors.keys());
    return at(
      alias,
      `there is no anchor &${alias.source} before this alias${near === null ? '' : `; did you mean *${near}?`}`,
    );
  }
  return parents.includes(target) ? at(alias, 'this alias contains itself') : null;
}

function checkMerge({ value }: Pair, anchors: ReadonlyMap<string, Node>): Diagnostic | null {
  const resolve = (node: unknown) => (isAlias(node) ? anchors.get(node.source) : node);
  const source = resolve(value);
  // An alias without an anchor gets a better message of its own.
  if (source === undefined) return at(value as Alias, 'there is no such anchor before this alias');
  const merged = isSeq(source) ? source.items.map(resolve) : [source];
  return merged.every((node) => isMap(node))
    ? null
    : at(value as Node | null, 'only mappings can be merged with "<<"');
}

function repeatedKeys(map: YAMLMap, text: string): Diagnostic[] {
  const first = new Map<unknown, Node>();
  return map.items.flatMap((pair) => {
    const { key } = pair;
    if (!isPair(pair) || !isScalar(key) || isMergePair(pair)) return [];
    const before = first.get(key.value);
    if (!before) {
      first.set(key.value, key);
      return [];
    }
    return [
      at(
        key,
        `duplicate key "${String(key.value)}", first used in line ${lineNumberAt(text, before.range?.[0] ?? 0)}`,
      ),
    ];
  });
}

/** Replaces an alias with an empty text. Further messages about that text are dropped, since the alias is the mistake. */
function standIn(alias: Alias): Scalar {
  const scalar = new Scalar('');
  if (alias.range) scalar.range = alias.range;
  return scalar;
}

function at(node: Node | null, message: string): Diagnostic {
  const [start = 0, end = start + 1] = node?.range ?? [];
  return { start, end, message };
}

/** Matches `${NAME}`, the escaped `$${`, and any other use of `${`. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/**
 * Replaces each `${NAME}` in a string with the environment variable, and `$${` with `${`. An unset variable and any other form of
 * `${` are mistakes. Replaced text is not expanded again.
 */
function interpolate(scalar: Scalar, text: string, env: Env): Diagnostic[] {
  if (typeof scalar.value !== 'string' || !scalar.value.includes('${')) return [];
  const [start = 0, end = start] = scalar.range ?? [];
  const found: Diagnostic[] = [];
  let from = start;
  const complain = (written: string, message: string) => {
    const index = text.indexOf(written, from);
    // In a double-quoted string, the characters may be written as escapes. The whole string is marked then.
    const isSeen = index !== -1 && index < end;
    if (isSeen) from = index + written.length;
    found.push({ start: isSeen ? index : start, end: isSeen ? from : end, message });
  };
  scalar.value = scalar.value.replace(VARIABLE, (written: string, name?: string) => {
    if (written === '$${') return '${';
    if (name === undefined) complain(written, 'only ${NAME} is replaced; write $${ for a literal ${');
    else if (env[name] === undefined) complain(written, `the environment variable ${name} is not set`);
    return (name === undefined ? undefined : env[name]) ?? written;
  });
  return found;
}
