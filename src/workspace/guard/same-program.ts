import { isNode, type SourceFile } from './syntax.js';

const notCode = new Set(['start', 'end', 'raw', 'range', 'loc', 'comments']);

/** Whether two files are the same code, however they are laid out and commented. */
export function isSameProgram(a: SourceFile, b: SourceFile): boolean {
  return isSame(a.program, b.program);
}

function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, index) => isSame(one, b[index]));
  }
  if (!isNode(a) || !isNode(b)) return isSameValue(a, b);
  const keys = Object.keys(a).filter((key) => !notCode.has(key));
  return (
    keys.length === Object.keys(b).filter((key) => !notCode.has(key)).length &&
    keys.every((key) => isSame(a[key], b[key]))
  );
}

/** Values beside nodes: names, numbers, patterns, and the little objects of template texts. */
function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return (
    String(a instanceof RegExp ? a : JSON.stringify(a)) ===
    String(b instanceof RegExp ? b : JSON.stringify(b))
  );
}
