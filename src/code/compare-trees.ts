import { diffArrays } from 'diff';
import { bare, calleeOf, nameOf } from './expressions.js';
import { fieldsOf, isNode, nodeIn, nodesIn, type SyntaxNode } from './syntax.js';

/** A place where two programs differ: the old node and the new one, null if there is none. */
export interface Difference {
  readonly old: SyntaxNode | null;
  readonly now: SyntaxNode | null;
  /** The node of the old program that contains the place. */
  readonly within: SyntaxNode;
}

/** Lists that differ in more places are not aligned, but treated as one stretch that differs. */
const MAX_EDITS = 300;

/** A stretch of two aligned lists. If it is kept, its elements are the same pair by pair. */
export interface Stretch<T> {
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

/** Compares two trees top down, ignoring layout. Nodes of the same type are compared field by field, and lists in order. */
export function compareTrees(before: SyntaxNode, after: SyntaxNode): Difference[] {
  return comparing(before, after, before);
}

function comparing(before: SyntaxNode, after: SyntaxNode, within: SyntaxNode): Difference[] {
  const [old, now] = [unified(before), unified(after)];
  if (identityOf(old) === identityOf(now)) return [];
  const fields = fieldsOf(old);
  if (old.type !== now.type || fields.length === 0 || old['operator'] !== now['operator'])
    return [{ old, now, within }];
  return fields.flatMap((field): Difference[] => {
    const [was, is] = [old[field], now[field]];
    if (Array.isArray(was) || Array.isArray(is))
      return stretchesOf(partsIn(old, field), partsIn(now, field), (a, b) => identityOf(a) === identityOf(b))
        .filter(({ isKept }) => !isKept)
        .flatMap((one) => pairing(one.before, one.after, old));
    if (isNode(was) && isNode(is)) return comparing(was, is, old);
    return isNode(was) || isNode(is)
      ? [{ old: isNode(was) ? was : null, now: isNode(is) ? is : null, within: old }]
      : [];
  });
}

/** Pairs nodes of the same type and name. If one old and one new node remain, the new one replaced the old one. */
function pairing(gone: readonly SyntaxNode[], come: readonly SyntaxNode[], within: SyntaxNode): Difference[] {
  const free = new Map<string, SyntaxNode[]>();
  for (const one of come.toReversed()) {
    const kind = kindOf(one);
    const same = free.get(kind) ?? [];
    free.set(kind, same);
    same.push(one);
  }
  const pairs = gone.map((old) => ({ old, now: free.get(kindOf(old))?.pop() }));
  const left = [...free.values()].flat();
  const alone = pairs.filter(({ now }) => !now);
  const [only] = left.length === 1 && alone.length === 1 ? left : [];
  const changed = pairs.flatMap(({ old, now = only }) =>
    now ? comparing(old, now, within) : [{ old, now: null, within }],
  );
  return [...changed, ...(only ? [] : left.map((now) => ({ old: null, now, within })))];
}

function kindOf(given: SyntaxNode): string {
  const node = unified(given);
  const name = ['key', 'id', 'name', 'property'].map((field) => nameOf(nodeIn(node, field))).find(Boolean);
  return `${node.type} ${name ?? ''}`;
}

/** Returns the nodes of a list that exist at run time, except imports. */
function partsIn(node: SyntaxNode, field: string): SyntaxNode[] {
  return nodesIn(node, field).filter((one) => isRun(one) && one.type !== 'ImportDeclaration');
}

/** Whether a node exists at run time: types, and imports and exports of types alone, do not. */
function isRun(node: SyntaxNode): boolean {
  if (!/^(?:TS|Import|Export)/.test(node.type)) return true;
  const specifiers = nodesIn(node, 'specifiers');
  const isType = node['importKind'] === 'type' || node['exportKind'] === 'type';
  const isForTypes = specifiers.length > 0 && specifiers.every((one) => one['importKind'] === 'type');
  return !isType && !isForTypes && !/^TS(?:Interface|TypeAlias)Declaration$/.test(node.type);
}

const known = new WeakMap<SyntaxNode, SyntaxNode>();
/** Strips wrappers, and turns `a.b(c).d(e)` into a list of links, so that single links can be added or removed. */
export function unified(given: SyntaxNode): SyntaxNode {
  const node = bare(given);
  const made = known.get(node) ?? chainOf(node);
  known.set(node, made);
  return made;
}

function chainOf(node: SyntaxNode): SyntaxNode {
  const links: SyntaxNode[] = [];
  let at = node;
  for (let callee = memberCalled(at); callee; callee = memberCalled(at)) {
    const { property, computed, optional } = callee;
    const { start } = nodeIn(callee, 'property') ?? at;
    const how = { computed, optional: optional || at['optional'], start, end: at.end };
    links.unshift({ type: 'Link', property, arguments: at['arguments'], ...how });
    at = bare(nodeIn(callee, 'object') ?? callee);
  }
  return links.length > 0 ? { type: 'Chain', links: [at, ...links], start: node.start, end: node.end } : node;
}

function memberCalled(node: SyntaxNode): SyntaxNode | null {
  const callee = calleeOf(node);
  const called = callee && bare(callee);
  return called?.type === 'MemberExpression' ? called : null;
}

const numbers = new Map<string, number>();
const identities = new WeakMap<SyntaxNode, number>();
/** Returns a number that is the same for the same code. */
function identityOf(given: SyntaxNode): number {
  const node = unified(given);
  const done = identities.get(node);
  if (done !== undefined) return done;
  const parts = fieldsOf(node).map((field) => {
    const part = node[field];
    if (!Array.isArray(part)) return isNode(part) ? identityOf(part) : '';
    const run = part.filter((one) => !isNode(one) || isRun(one));
    return `[${run.map((one) => (isNode(one) ? identityOf(one) : '-')).join()}]`;
  });
  const text = `${ownText(node)} ${parts.join()}`;
  const number = numbers.get(text) ?? numbers.size;
  numbers.set(text, number);
  identities.set(node, number);
  return number;
}

const notOwn = /^(?:start|end|range|loc|raw|parent|comments)$/;
const plain = (value: unknown) =>
  typeof value === 'bigint' || value instanceof RegExp ? String(value) : (value ?? undefined);

/** Returns a node's own fields as text, without its children: its type, name, operator and value. */
function ownText(node: SyntaxNode): string {
  const isPart = (value: unknown) => value === null || isNode(value) || Array.isArray(value);
  const own = Object.entries(node).filter(([key, value]) => !isPart(value) && !notOwn.test(key));
  return own.map(([key, value]) => `${key}=${JSON.stringify(plain(value))}`).join();
}
