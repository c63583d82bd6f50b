import { bare, isNode, nodesIn, type SourceFile, typeField } from './syntax.js';

const notCode = /^(?:start|end|raw|range|loc|comments)$/;
const forTypes = /^(?:import|export)Kind$/;

/** Whether two files are the same code, however they are laid out and commented; without `types` also however they are typed. */
export function isSameProgram(a: SourceFile, b: SourceFile, { types = false } = {}): boolean {
  return a === b || a.text === b.text || codeOf(a, types) === codeOf(b, types);
}

function codeOf({ program }: SourceFile, types: boolean): string {
  return JSON.stringify(program, (key, value: unknown) => {
    const isType = forTypes.test(key) || typeField.test(key);
    if (notCode.test(key) || (isType && !types)) return undefined;
    if (typeof value === 'bigint' || value instanceof RegExp) return String(value);
    if (types) return value;
    return Array.isArray(value) ? value.filter(isRun) : isNode(value) ? bare(value) : value;
  });
}

/** Types, and what is imported for them alone, say nothing at run time. */
function isRun(value: unknown): boolean {
  if (!isNode(value)) return true;
  if (/^TS(?:Interface|TypeAlias)Declaration$/.test(value.type)) return false;
  if (value['importKind'] === 'type' || value['exportKind'] === 'type') return false;
  const specifiers = value.type === 'ImportDeclaration' ? nodesIn(value, 'specifiers') : [];
  return specifiers.length === 0 || specifiers.some((one) => one['importKind'] !== 'type');
}
