import { diffArrays } from 'diff';
import { unwrap, childrenOf, fieldsOf, isNode, nameOf, nodeIn, type SyntaxNode } from './syntax.js';

/** Lists that differ in more places are not aligned, but treated as one stretch that differs. */
const MAX_EDITS = 300;

/** A stretch of two aligned lists. If it is kept, its elements are the same pair by pair. */
interface Stretch<T> {
  readonly before: readonly T[];
  readonly after: readonly T[];
  readonly isKept: boolean;
}

/** Aligns two lists in order: stretches that are the same in both, and between them the stretches that differ. */
export function stretchesOf<T>(
  before: readonly T[],
  after: readonly T[],
  comparator: (old: T, now: T) => boolean,
): Stretch<T>[] {
  const parts = diffArrays([...before], [...after], { comparator, maxEditLength: MAX_EDITS });
  if (!parts) return [{ before, after, isKept: false }];
  const found: Stretch<T>[] = [];
  let [i, j] = [0, 0];
  for (const { added, removed, count } of parts) {
    const isKept = !added && !removed;
    const olds = added ? [] : before.slice(i, (i += count));
    const news = removed ? [] : after.slice(j, (j += count));
    const last = isKept || found.at(-1)?.isKept !== false ? null : found.pop();
    found.push({
      before: [...(last?.before ?? []), ...olds],
      after: [...(last?.after ?? []), ...news],
      isKept,
    });
  }
  return found;
}

interface Tree {
  readonly program: SyntaxNode;
  readonly text: string;
}

/** A place where two programs differ: the old node and the new one, null if there is none. */
export interface Difference {
  readonly old: SyntaxNode | null;
  readonly now: SyntaxNode | null;
}

export function codeOf(node: SyntaxNode, { text }: Tree): string {
  return text.slice(node.start, node.end).replaceAll(/\s+/g, ' ');
}

/** Compares two trees top down, ignoring layout: nodes of the same type field by field, and lists in order. */
export function compareTrees(before: Tree, after: Tree): Difference[] {
  const known = new WeakMap<SyntaxNode, string>();
  const code = (node: SyntaxNode, tree: Tree) => {
    const text = known.get(node) ?? codeOf(node, tree);
    known.set(node, text);
    return text;
  };
  const comparing = (given: SyntaxNode, other: SyntaxNode): Difference[] => {
    const [old, now] = [unwrap(given), unwrap(other)];
    if (code(old, before) === code(now, after)) return [];
    const fields = fieldsOf(old);
    const [callee, called] = [nodeIn(old, 'callee'), nodeIn(now, 'callee')];
    const isOther =
      old.type !== now.type || old['operator'] !== now['operator'] || callee?.type !== called?.type;
    if (isOther || fields.length === 0) return [{ old, now }];
    return fields.flatMap((field) => pairing(partsIn(old, field), partsIn(now, field)));
  };
  const pairing = (olds: readonly SyntaxNode[], news: readonly SyntaxNode[]): Difference[] =>
    stretchesOf(olds, news, (a, b) => code(a, before) === code(b, after)).flatMap((stretch) => {
      if (stretch.isKept) return [];
      // Nodes of the same type and name belong together. If one old and one new node remain, the new one replaced the old one.
      const free = [...stretch.after];
      const pairs = stretch.before.map((old) => {
        const at = free.findIndex((one) => kindOf(one) === kindOf(old));
        return { old, now: at === -1 ? null : (free.splice(at, 1)[0] ?? null) };
      });
      const alone = pairs.filter(({ now }) => !now);
      const [only] = free.length === 1 && alone.length === 1 ? free : [];
      const rest = only ? [] : free.map((now) => ({ old: null, now }));
      return [
        ...pairs.flatMap(({ old, now }) =>
          now || only ? comparing(old, now ?? only ?? old) : [{ old, now }],
        ),
        ...rest,
      ];
    });
  return comparing(before.program, after.program);
}

function partsIn(node: SyntaxNode, field: string): SyntaxNode[] {
  return [node[field]].flat().filter(isNode).filter(isRun);
}

/** Whether a node exists at run time. What a module imports shows where it is used. */
function isRun({ type, importKind, exportKind }: SyntaxNode): boolean {
  return (
    importKind === undefined && exportKind !== 'type' && !/^TS(?:Interface|TypeAlias)Declaration$/.test(type)
  );
}

function kindOf(node: SyntaxNode): string {
  const name = ['key', 'id', 'name', 'property'].map((field) => nameOf(nodeIn(node, field))).find(Boolean);
  return `${node.type} ${name ?? ''}`;
}

/** Lists what a program does and names: `call save`, `name order`, `key strict`, `is true`, `by ===`. Types and imports are left out. */
export function operationsIn(given: SyntaxNode): string[] {
  const node = unwrap(given);
  if (/^(?:TS(?!Enum|Parameter)|Import(?!Expr))/.test(node.type)) return [];
  const key = node.type === 'Property' && node['computed'] !== true ? nodeIn(node, 'key') : null;
  // Parameters and declared names are listed where they are used.
  const named = key ? [key] : [node['param'], node['params'], node['id']].flat();
  const own = ownOperation(node, key);
  return [
    ...(own === null ? [] : [own]),
    ...childrenOf(node)
      .filter((one) => !named.includes(one))
      .flatMap(operationsIn),
  ];
}

function ownOperation(node: SyntaxNode, key: SyntaxNode | null): string | null {
  const { type, value, operator } = node;
  if (key) return `key ${nameOf(key)}`;
  if (type === 'ThrowStatement' || type === 'AwaitExpression') return `call ${type}`;
  if (/^(?:Call|New)Expression$/.test(type)) return 'call';
  if (type.endsWith('Identifier')) return `name ${String(node['name'])}`;
  if (typeof value === 'boolean') return `is ${value}`;
  return /^(?:[!=]==?|&&|\|\|)$/.test(String(operator)) ? `by ${String(operator)}` : null;
}
