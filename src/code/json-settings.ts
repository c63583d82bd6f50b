import { unwrap, constantOf, nameOf, nodeIn, nodesIn, type SyntaxNode } from './syntax.js';
import { parseSource } from './source-file.js';

/** Settings by dotted name, such as `compilerOptions.strict`. */
type Settings = ReadonlyMap<string, string>;

/**
 * Parses JSON with comments, as a JavaScript expression. Objects are flattened to dotted names, and a list keeps its source text. Null on a
 * syntax error.
 */
export function jsonSettings(text: string): Settings | null {
  const source = parseSource('settings.js', `(${text})`);
  const found = new Map<string, string>();
  const add = (node: SyntaxNode, name: string): void => {
    if (node.type !== 'ObjectExpression')
      found.set(name, String(constantOf(node) ?? source?.text.slice(node.start, node.end)));
    for (const one of node.type === 'ObjectExpression' ? nodesIn(node, 'properties') : []) {
      const [key, value] = [nameOf(nodeIn(one, 'key')), nodeIn(one, 'value')];
      if (value) add(value, name === '' ? (key ?? '') : `${name}.${key ?? ''}`);
    }
  };
  const [only] = source ? nodesIn(source.program, 'body') : [];
  const value = only && nodeIn(only, 'expression');
  if (value) add(unwrap(value), '');
  return source ? found : null;
}
