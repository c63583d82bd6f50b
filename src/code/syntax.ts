import { visitorKeys } from 'oxc-parser';

/** A node of the ESTree that oxc-parser produces. Loosely typed, since callers read few fields of many node types. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Whether a value is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** Returns the node in a field; null if there is none, or no parent node. */
export function nodeIn(node: SyntaxNode | null | undefined, field: string): SyntaxNode | null {
  const value = node?.[field];
  return isNode(value) ? value : null;
}

/** Returns the nodes in a list field, without holes; empty if there is no list. */
export function nodesIn(node: SyntaxNode | null | undefined, field: string): SyntaxNode[] {
  const value = node?.[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Fields that hold types, which have no effect at run time. */
const typeField =
  /^(?:typeAnnotation|returnType|typeArguments|typeParameters|superTypeArguments|implements)$/;

/** Fields of synthetic nodes: the links of a chain of calls, and the words of a text. */
const ownFields: Readonly<Record<string, readonly string[]>> = {
  Chain: ['links'],
  Link: ['property', 'arguments'],
  Text: ['parts'],
  Line: ['parts'],
};

const fields = new Map(
  Object.entries({ ...visitorKeys, ...ownFields }).map(([type, all]) => [
    type,
    all.filter((field) => !typeField.test(field)),
  ]),
);

/** Returns the fields that hold a node's children, without types, in source order. */
export function fieldsOf({ type }: SyntaxNode): readonly string[] {
  return fields.get(type) ?? [];
}

/** Returns all child nodes except types, in source order. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return fieldsOf(node).flatMap((field) => {
    const value = node[field];
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

/** Visits a node and everything below it, parents first. */
export function visit(node: SyntaxNode, look: (node: SyntaxNode) => void): void {
  look(node);
  for (const child of childrenOf(node)) visit(child, look);
}

/** Returns a node and all its descendants, parents first; empty for null. */
export function nodesOf(node: SyntaxNode | null): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  if (node) visit(node, (one) => found.push(one));
  return found;
}

/** Creates a synthetic node: `object.name`, or `object[0]` for a number. */
export function memberNode(object: SyntaxNode, name: string | number): SyntaxNode {
  const at = { start: object.start, end: object.end };
  const property =
    typeof name === 'number'
      ? { type: 'Literal', value: name, raw: String(name), ...at }
      : { type: 'Identifier', name, ...at };
  return { type: 'MemberExpression', object, property, computed: typeof name === 'number', ...at };
}
