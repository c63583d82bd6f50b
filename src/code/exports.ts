import { nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode } from './syntax.js';

/** The element or property of a list, a record or an enum that is written out; null where it has none. */
export function partOf(node: SyntaxNode, name: string): SyntaxNode | null {
  if (node.type === 'ArrayExpression') return nodesIn(node, 'elements')[Number(name)] ?? null;
  const isEnum = node.type === 'TSEnumDeclaration';
  if (!isEnum && node.type !== 'ObjectExpression') return null;
  const parts = isEnum ? nodesIn(nodeIn(node, 'body'), 'members') : nodesIn(node, 'properties');
  const part = parts.find((one) => nameOf(nodeIn(one, isEnum ? 'id' : 'key')) === name);
  return nodeIn(part, isEnum ? 'initializer' : 'value');
}

/** A local name, a node, a name of another file, or nothing. */
type Exported =
  string | null | { readonly node: SyntaxNode } | { readonly from: string; readonly name: string };

/** What a file exports under a name: a local name, a node, or a name of another file. */
export function exportedName(program: SyntaxNode, name: string): Exported {
  for (const node of nodesIn(program, 'body')) {
    const declared = nodeIn(node, 'declaration');
    const isDefault = node.type === 'ExportDefaultDeclaration' && name === 'default';
    const given = isDefault ? declared : commonExport(nodeIn(node, 'expression'), name);
    if (given) return { node: given };
    if (node.type !== 'ExportNamedDeclaration') continue;
    if ([declared, ...nodesIn(declared, 'declarations')].some((one) => nameOf(nodeIn(one, 'id')) === name))
      return name;
    for (const specifier of nodesIn(node, 'specifiers')) {
      if (nameOf(nodeIn(specifier, 'exported')) !== name) continue;
      const local = nameOf(nodeIn(specifier, 'local')) ?? name;
      const from = nameOf(nodeIn(node, 'source'));
      return from === null ? local : { from, name: local };
    }
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
