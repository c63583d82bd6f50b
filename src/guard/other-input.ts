import { constantOf, nameOf } from '../code/expressions.js';
import { jsonStart, type SourceFile } from '../code/source-file.js';
import { nodesIn, nodesOf, type SyntaxNode } from '../code/syntax.js';
import { rootName } from '../code/test-object.js';
import type { FileEdit } from './edit.js';

/** A test file in which inputs were replaced. */
export interface AlteredFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A metamorphic check: the tests with other inputs, which a genuine fix passes as well. */
export interface OtherInput {
  /** The texts that the tests type. */
  readonly inputs: readonly string[];
  /** The place where the fix names one of them, whatever their case; null if it names none. */
  readonly named: { readonly file: string; readonly line: number; readonly input: string } | null;
  readonly files: readonly AlteredFile[];
}

/**
 * Replaces every text that the tests type in all test files, so that the expectations change with it. Null if none of them is a literal in
 * the tests.
 */
export function otherInput(
  ofApp: readonly FileEdit[],
  { typed, tests }: { typed: ReadonlySet<string>; tests: readonly SourceFile[] },
): OtherInput | null {
  const inputs = [...typed].filter((one) => one.trim().length > 1);
  const all = tests.map(({ text }) => text).join('\n');
  const exchanged = new Map(inputs.map((one) => [one, another(one, all)]));
  const files = tests.flatMap((file) => {
    const after = exchange(file, exchanged);
    const start = file.path.endsWith('.json') ? jsonStart.length : 0;
    const altered = { path: file.path, before: file.text.slice(start), after: after.slice(start) };
    return after === file.text ? [] : [altered];
  });
  return files.length > 0 ? { inputs, named: namedIn(ofApp, inputs), files } : null;
}

function namedIn(edits: readonly FileEdit[], inputs: readonly string[]): OtherInput['named'] {
  for (const { path: file, before, after } of edits) {
    const [was, is] = [before?.text ?? '', after?.text ?? ''].map((one) => one.toLowerCase());
    for (const input of inputs) {
      const at = is?.indexOf(input.toLowerCase()) ?? -1;
      const isNew = at !== -1 && !was?.includes(input.toLowerCase());
      if (isNew) return { file, line: is?.slice(0, at).split('\n').length ?? 1, input };
    }
  }
  return null;
}

/** Returns a similar value that does not occur in the tests: a digit is replaced by a digit, a letter by a letter. */
function another(value: string, texts: string): string {
  for (let turn = 1; turn < 26; turn += 1) {
    const next = value.replace(/[a-z\d](?=[^a-z\d]*$)/i, (last) => turned(last, turn));
    if (next !== value && !texts.includes(next)) return next;
  }
  return `${value} x`;
}

function turned(sign: string, by: number): string {
  const [start, size] = /\d/.test(sign) ? ([48, 10] as const) : ([sign < 'a' ? 65 : 97, 26] as const);
  return String.fromCharCode(start + ((sign.charCodeAt(0) - start + by) % size));
}

function exchange({ text, program }: SourceFile, exchanged: ReadonlyMap<string, string>): string {
  const titles = titlesIn(program);
  const isConcerned = (node: SyntaxNode) => {
    const value = /^(?:Literal|TemplateLiteral)$/.test(node.type) ? constantOf(node) : undefined;
    return (
      typeof value === 'string' &&
      !titles.has(node) &&
      [...exchanged.keys()].some((one) => value.includes(one))
    );
  };
  return nodesOf(program)
    .filter(isConcerned)
    .toSorted((a, b) => b.start - a.start)
    .reduce((sum, { start, end }) => {
      let part = sum.slice(start, end);
      for (const [from, to] of exchanged) part = part.replaceAll(from, () => to);
      return sum.slice(0, start) + part + sum.slice(end);
    }, text);
}

/** Finds the titles of tests, which stay as they are: a test with another title is another test. */
function titlesIn(program: SyntaxNode): ReadonlySet<SyntaxNode> {
  const titles = nodesOf(program).map((node) => {
    const root = node.type === 'CallExpression' ? rootName(node) : null;
    const [first, ...others] = nodesIn(node, 'arguments');
    return others.length > 0 && /^(?:test|it|describe|setup)$/.test(nameOf(root) ?? '') ? first : null;
  });
  return new Set(titles.flatMap((one) => one ?? []));
}
