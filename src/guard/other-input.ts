import { nameOf } from '../code/expressions.js';
import { jsonStart, type SourceFile } from '../code/source-file.js';
import { nodesIn, nodesOf, type SyntaxNode } from '../code/syntax.js';
import { rootName } from '../code/test-object.js';
import { type Literal, literalsIn, type SharedLiteral } from './shared-literals.js';

/** A file of the tests in which inputs were exchanged. */
export interface AlteredFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** A metamorphic check: the tests with other inputs, which an app that answers in earnest passes all the same. */
export interface OtherInput {
  /** What the fix decides by, and the tests type. */
  readonly literals: readonly SharedLiteral[];
  readonly files: readonly AlteredFile[];
}

/**
 * Exchanges every input of the tests that a fix decides by, in all of the tests' files, so that what is expected of it changes with it.
 * Null where there is none, or it does not stand in the tests as a literal.
 */
export function otherInput(
  shared: readonly SharedLiteral[],
  { typed, tests }: { typed: ReadonlySet<string>; tests: readonly SourceFile[] },
): OtherInput | null {
  const literals = shared.filter(({ value, decides }) => decides && typed.has(String(value)));
  const all = tests.map(({ text }) => text).join('\n');
  const exchanged = new Map(literals.map(({ value }) => [String(value), another(String(value), all)]));
  const files = tests.flatMap((file) => {
    const after = exchange(file, exchanged);
    const start = file.path.endsWith('.json') ? jsonStart.length : 0;
    const altered = { path: file.path, before: file.text.slice(start), after: after.slice(start) };
    return after === file.text ? [] : [altered];
  });
  return files.length > 0 ? { literals, files } : null;
}

/** Another value of the same kind, which is not in the tests yet: digits stay digits, letters letters. */
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
  const isConcerned = ({ value, node }: Literal) =>
    !titles.has(node) && [...exchanged.keys()].some((one) => String(value).includes(one));
  return literalsIn(program)
    .filter(isConcerned)
    .toSorted((a, b) => b.node.start - a.node.start)
    .reduce((sum, { node: { start, end } }) => {
      let part = sum.slice(start, end);
      for (const [from, to] of exchanged) part = part.replaceAll(from, () => to);
      return sum.slice(0, start) + part + sum.slice(end);
    }, text);
}

/** A test with another title is another test. */
function titlesIn(program: SyntaxNode): ReadonlySet<SyntaxNode> {
  const titles = nodesOf(program).map((node) => {
    const root = node.type === 'CallExpression' ? rootName(node) : null;
    const [first, ...others] = nodesIn(node, 'arguments');
    return others.length > 0 && /^(?:test|it|describe|setup)$/.test(nameOf(root) ?? '') ? first : null;
  });
  return new Set(titles.flatMap((one) => one ?? []));
}
