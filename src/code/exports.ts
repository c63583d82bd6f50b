import { nameOf, propertyOf } from './expressions.js';
import { nodeIn, nodesIn, type SyntaxNode } from './syntax.js';

/** The element or property of a list, a record or an enum that is written out; null where it has none. */
export function partOf(node: SyntaxNode, name: string): SyntaxNode | null {
  if (node.type === 'ArrayExpression') return nodesIn(node, 'elements')[Number(name)] ?? null;
  const isEnum = node.type === 'TSEnumDeclaration';
  if (!isEnum && node.type !== 'ObjectExpression') return null;
  const parts = isEnum ? nodesIn(nodeIn(node, 'body'), 'members') : nodesIn(node, 'properties');
  const part = parts.find((one) => nameOf(nodeIn(one, isEnum ? 'id' : 'key')) === name);
  return nodeIn(part, isEnum ? 'initializer' : 'value');
}

/** What a file exports under a name: a node, and the module that it comes from, null for its own. */
interface Exported {
  readonly node: SyntaxNode;
  readonly source: string | null;
}

/** What a file exports under a name; null where it says no such name. */
export function exportedAs(program: SyntaxNode, name: string): Exported | null {
  for (const one of nodesIn(program, 'body')) {
    const declared = nodeIn(one, 'declaration');
    const isDefault = one.type === 'ExportDefaultDeclaration';
    const given = isDefault && name === 'default' ? declared : commonExport(nodeIn(one, 'expression'), name);
    const named = isDefault ? [] : [declared, ...nodesIn(declared, 'declarations')];
    const id = named.map((part) => nodeIn(part, 'id')).find((part) => nameOf(part) === name);
    const specifier = nodesIn(one, 'specifiers').find((part) => nameOf(nodeIn(part, 'exported')) === name);
    const node = given ?? id ?? nodeIn(specifier, 'local');
    if (node) return { node, source: nameOf(nodeIn(one, 'source')) };
  }
  return null;
}

/** `module.exports = { name }` and `exports.name = …`. */
function commonExport(node: SyntaxNode | null, name: string): SyntaxNode | null {
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  const [object, target] = [nodeIn(left, 'object'), propertyOf(left)];
  if (node?.type !== 'AssignmentExpression' || !right) return null;
  if (nameOf(object) === 'module' && target === 'exports')
    return name === 'default' ? right : partOf(right, name);
  const isExports = nameOf(object) === 'exports' || propertyOf(object) === 'exports';
  return isExports && target === name ? right : null;
}
