import { nameOf, propertyOf } from './expressions.js';
import { nodeIn, nodesIn, type SyntaxNode } from './syntax.js';

/** Returns the named element, property or member of an array literal, an object literal or an enum; null if there is none. */
export function partOf(node: SyntaxNode, name: string): SyntaxNode | null {
  if (node.type === 'ArrayExpression') return nodesIn(node, 'elements')[Number(name)] ?? null;
  const isEnum = node.type === 'TSEnumDeclaration';
  if (!isEnum && node.type !== 'ObjectExpression') return null;
  const parts = isEnum ? nodesIn(nodeIn(node, 'body'), 'members') : nodesIn(node, 'properties');
  const part = parts.find((one) => nameOf(nodeIn(one, isEnum ? 'id' : 'key')) === name);
  return nodeIn(part, isEnum ? 'initializer' : 'value');
}

/** An export of a file: its node, and the module that it is re-exported from, or null. */
interface Exported {
  readonly node: SyntaxNode;
  readonly source: string | null;
}

/** Finds an export by name; null if the file does not name it itself (`export *` is not followed). */
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

/** Finds an export written as `module.exports = { name }` or `exports.name = …`. */
function commonExport(node: SyntaxNode | null, name: string): SyntaxNode | null {
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  const [object, target] = [nodeIn(left, 'object'), propertyOf(left)];
  if (node?.type !== 'AssignmentExpression' || !right) return null;
  if (nameOf(object) === 'module' && target === 'exports')
    return name === 'default' ? right : partOf(right, name);
  const isExports = nameOf(object) === 'exports' || propertyOf(object) === 'exports';
  return isExports && target === name ? right : null;
}
