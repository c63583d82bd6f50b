import { partOf } from '../../code/exports.js';
import { printCode } from '../../code/print.js';
import type { Scope } from '../../code/scope.js';
import type { Sources } from '../../code/sources.js';
import { nameOf, nodeIn, nodesIn, type Place, placeOf, type SyntaxNode } from '../../code/syntax.js';

/** One setting of the Playwright config; `path` as in `use.actionTimeout`, projects by their names. */
export interface ConfigEntry extends Place {
  readonly path: string;
  readonly value: string;
}

/** Reads the Playwright config into flat settings: `use.baseURL`, `projects.chromium.retries` … */
export function readConfig(path: string, sources: Sources): ConfigEntry[] {
  const found = sources.files.get(path);
  if (!found) return [];
  const exported = defaultExport(found.file.program);
  if (!exported) return [];
  const entries: ConfigEntry[] = [];
  flatten(exported, { path: '', scope: found.scope, sources, entries });
  return entries;
}

function defaultExport(program: SyntaxNode): SyntaxNode | null {
  for (const node of nodesIn(program, 'body')) {
    if (node.type === 'ExportDefaultDeclaration') return nodeIn(node, 'declaration');
    const expression = node.type === 'ExpressionStatement' ? nodeIn(node, 'expression') : null;
    if (expression?.type === 'AssignmentExpression') return nodeIn(expression, 'right');
  }
  return null;
}

interface Flattening {
  readonly path: string;
  readonly scope: Scope;
  readonly sources: Sources;
  readonly entries: ConfigEntry[];
}

function flatten(given: SyntaxNode, at: Flattening): void {
  const { node, scope } = at.sources.resolve(given, at.scope);
  const inside = { ...at, scope };
  if (node.type === 'CallExpression' && nameOf(nodeIn(node, 'callee')) === 'defineConfig') {
    for (const one of nodesIn(node, 'arguments')) flatten(one, inside);
  } else if (node.type === 'ObjectExpression') flattenObject(node, inside);
  else if (node.type === 'ArrayExpression' && /^(?:projects|webServer)$/.test(at.path)) {
    nodesIn(node, 'elements').forEach((one, index) => {
      const name = nameOf(partOf(at.sources.resolve(one, scope).node, 'name')) ?? String(index);
      flatten(one, { ...inside, path: `${at.path}.${name}` });
    });
  } else {
    const value = printCode(node, scope, at).text;
    at.entries.push({ path: at.path, value, ...placeOf(at.scope.file, given) });
  }
}

function flattenObject(node: SyntaxNode, at: Flattening): void {
  for (const one of nodesIn(node, 'properties')) {
    const key = nameOf(nodeIn(one, 'key'));
    const value = nodeIn(one, 'value') ?? nodeIn(one, 'argument');
    // What is spread in counts as written out here.
    if (value)
      flatten(value, { ...at, path: key === null ? at.path : at.path === '' ? key : `${at.path}.${key}` });
  }
}
