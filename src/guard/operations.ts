import { unified } from '../code/compare-trees.js';
import { nameOf } from '../code/expressions.js';
import { isCode } from '../code/imports.js';
import { programsIn, template, withoutScripts } from '../code/scripts.js';
import { linesOf, parseSource, type SourceFile } from '../code/source-file.js';
import { childrenOf, nodeIn, type SyntaxNode } from '../code/syntax.js';

/** A part of a file, parsed so that it can be compared. */
export type Tree = Pick<SourceFile, 'program' | 'text' | 'lineAt'>;

/** Parses a file into its parts: its programs, the markup of a template, or the value of a JSON file; any other text into lines of words. */
export function treesIn(path: string, text: string): Tree[] {
  const json = path.endsWith('.json') ? parseSource('data.js', `(${text})`) : null;
  if (json) return [json];
  const programs = programsIn(path, text);
  if (isCode(path)) return programs;
  return [...programs, ...(template.test(path) ? templateIn(withoutScripts(text)) : [wordsOf(text)])];
}

/** Parses a template into the expressions in its braces, as one program, and all else as words. Both keep the line numbers. */
function templateIn(page: string): Tree[] {
  const parts = page.split(/(\{\{?[^{}]+\}\}?)/);
  const expressions = parts.map((one, index) => {
    const expression = index % 2 === 1 ? `${one.replaceAll('{', '(').replaceAll('}', ')')};` : '';
    return expression !== '' && parseSource('page.ts', expression) ? expression : null;
  });
  const lines = (one: string) => one.replaceAll(/[^\n]/g, '');
  const program = parts.map((one, index) => expressions[index] ?? lines(one)).join('');
  const words = parts.map((one, index) => (expressions[index] ? lines(one) : one)).join('');
  return [parseSource('page.ts', program) ?? wordsOf(''), wordsOf(words)];
}

function wordsOf(text: string): Tree {
  const lines = [...text.matchAll(/\S.*/g)].map((line) => {
    const words = [...line[0].matchAll(/[\w$.-]+|\S/g)].map((word) => ({
      type: 'Word',
      text: word[0],
      ...span(word, line.index),
    }));
    return { type: 'Line', parts: words, ...span(line) };
  });
  const program = { type: 'Text', parts: lines, start: 0, end: text.length };
  return { program, text, lineAt: linesOf(text) };
}

function span({ index, 0: text }: RegExpExecArray, from = 0): { start: number; end: number } {
  return { start: from + index, end: from + index + text.length };
}

/** Lists what a program does and names: `call save`, `name order`, `key strict`, `is true`, `by ===`. Types and imports are left out. */
export function operationsIn(given: SyntaxNode, found: string[] = []): string[] {
  const node = unified(given);
  if (/^(?:TS(?!Enum|Parameter)|Import(?!Expr))/.test(node.type)) return found;
  const key = node.type === 'Property' && node['computed'] !== true ? nodeIn(node, 'key') : null;
  const own = ownOperation(node, key);
  if (own !== null) found.push(own);
  const named = key ? [key] : namesIn(node);
  for (const one of childrenOf(node)) if (!named.includes(one)) operationsIn(one, found);
  return found;
}

/** Parameters and declared names are left out: they are listed where they are used. */
const namesIn = ({ param, params, id }: SyntaxNode): unknown[] =>
  param || params || id ? [param, params, id].flat() : [];

function ownOperation(node: SyntaxNode, key: SyntaxNode | null): string | null {
  if (key) return `key ${nameOf(key)}`;
  const { type } = node;
  if (type === 'ThrowStatement') return 'call throw';
  if (type === 'AwaitExpression') return 'call await';
  if (type === 'Link') return `call ${nameOf(nodeIn(node, 'property'))}`;
  if (type === 'CallExpression' || type === 'NewExpression') return `call ${nameOf(nodeIn(node, 'callee'))}`;
  if (type.endsWith('Identifier')) return `name ${String(node['name'])}`;
  if (type === 'Word') return /^[a-z_$]/i.test(String(node['text'])) ? `name ${String(node['text'])}` : null;
  if (typeof node['value'] === 'boolean') return `is ${node['value']}`;
  return /^(?:[!=]==?|&&|\|\|)$/.test(String(node['operator'])) ? `by ${String(node['operator'])}` : null;
}
