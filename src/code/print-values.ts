import { cookedText } from './expressions.js';
import { nodesIn, type SyntaxNode } from './syntax.js';

/** Prints a template literal; one whose parts are all known is printed as a plain string. */
export function printTemplate(node: SyntaxNode, inside: (node: SyntaxNode) => string): string {
  const texts = nodesIn(node, 'quasis').map(cookedText);
  const parts = nodesIn(node, 'expressions').map(inside);
  const known = parts.map(valueOf);
  const filled = texts.map((text, index) => {
    const part = parts[index];
    return part === undefined ? text : `${text}${known[index] ?? `\${${part}}`}`;
  });
  const joined = JSON.stringify(filled.join(''));
  return known.every((one) => one !== undefined) ? joined : `template ${joined}`;
}

/** Parses a printed string or number; undefined for anything else. */
function valueOf(text: string): string | number | undefined {
  if (!/^(?:"|-?\d)/.test(text)) return undefined;
  try {
    return JSON.parse(text) as string | number;
  } catch {
    return undefined;
  }
}

/** Prints a binary operation, and evaluates `*` of known numbers and `+` of known strings. */
export function printBinary(operator: string, left: string, right: string): string {
  const [a, b] = [valueOf(left), valueOf(right)];
  if (typeof a === 'number' && typeof b === 'number' && operator === '*') return String(a * b);
  if (typeof a === 'string' && typeof b === 'string' && operator === '+') return JSON.stringify(a + b);
  return `(${left} ${operator} ${right})`;
}
