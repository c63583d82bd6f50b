import { bare, isNode, nodesIn, type SourceFile, type SyntaxNode, typeFields } from './syntax.js';

const notCode = new Set(['start', 'end', 'raw', 'range', 'loc', 'comments']);
const forTypes = new Set([...notCode, 'importKind', 'exportKind', ...typeFields]);

/** Whether two files are the same code, however they are laid out and commented; without `types` also however they are typed. */
export function isSameProgram(a: SourceFile, b: SourceFile, { types = false } = {}): boolean {
  return a === b || a.text === b.text || isSame(a.program, b.program, types);
}

function isSame(a: unknown, b: unknown, types: boolean): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    const [olds, news] = types ? [a, b] : [a.filter(isRun), b.filter(isRun)];
    return olds.length === news.length && olds.every((one, index) => isSame(one, news[index], types));
  }
  if (!isNode(a) || !isNode(b)) return isSameValue(a, b);
  const [old, now] = types ? [a, b] : [bare(a), bare(b)];
  const ignored = types ? notCode : forTypes;
  const keys = (node: SyntaxNode) =>
    Object.keys(node).filter((key) => !ignored.has(key) && node[key] !== undefined);
  return keys(old).length === keys(now).length && keys(old).every((key) => isSame(old[key], now[key], types));
}

/** Types, and what is imported for them alone, say nothing at run time. */
function isRun(value: unknown): boolean {
  if (!isNode(value)) return true;
  if (/^TS(?:Interface|TypeAlias)Declaration$/.test(value.type)) return false;
  if (value['importKind'] === 'type' || value['exportKind'] === 'type') return false;
  const specifiers = value.type === 'ImportDeclaration' ? nodesIn(value, 'specifiers') : [];
  return specifiers.length === 0 || specifiers.some((one) => one['importKind'] !== 'type');
}

/** Values beside nodes: names, numbers, patterns, and the little objects of template texts. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  const text = (value: unknown) => (value instanceof RegExp ? String(value) : JSON.stringify(value));
  return text(a) === text(b);
}
