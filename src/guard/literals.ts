import {
  constantOf,
  nodesIn,
  parseSource,
  propertyOf,
  nodeIn,
  type SyntaxNode,
  visit,
} from './code/syntax.js';

/** A literal that a fix added to the app and that a test uses too: perhaps the app answers this test alone. */
export interface SharedLiteral {
  readonly value: string | number;
  /** Where the fix added it. */
  readonly file: string;
  readonly line: number;
}

/** A file of the app before and after the fix; before is null where it is new. */
export interface FixedFile {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

/** What a metamorphic check runs: the test with another input, which an app that answers in earnest passes all the same. */
export interface MetamorphicCheck {
  readonly literal: SharedLiteral;
  readonly replacement: string | number;
  /** The whole text of the altered test file. */
  readonly text: string;
  /** What is to be expected of the run. */
  readonly expects: 'green';
}

/** What can be checked by one more run, and what only a reviewer can tell. */
export interface LiteralChecks {
  readonly checks: readonly MetamorphicCheck[];
  readonly forReview: readonly SharedLiteral[];
}

/**
 * Finds the literals that a fix added to the app and that occur in the test it heals. Where the test gives one to the app itself
 * (it fills it in, selects it), it can be changed in the whole test, and an app that hard-coded it goes red. What the test only
 * expects cannot be changed without asking for another app.
 */
export function literalChecks(
  fix: readonly FixedFile[],
  test: { path: string; text: string },
): LiteralChecks {
  const source = parseSource(test.path, test.text);
  if (!source) return { checks: [], forReview: [] };
  const used = literalsIn(source.program);
  const given = inputsIn(source.program);
  const shared = fix.flatMap(addedLiterals).filter(({ value }) => used.some((one) => one.value === value));
  const distinct = [...new Map(shared.map((one) => [one.value, one])).values()];
  return {
    checks: distinct
      .filter(({ value }) => given.has(value))
      .map((literal) => {
        const replacement = another(literal.value, test.text);
        return {
          literal,
          replacement,
          text: replaced(test.text, used, { of: literal.value, by: replacement }),
          expects: 'green',
        };
      }),
    forReview: distinct.filter(({ value }) => !given.has(value)),
  };
}

interface Literal {
  readonly value: string | number;
  readonly node: SyntaxNode;
}

/** Texts of two letters and more, and numbers of two digits and more: shorter ones are anybody's. */
function literalsIn(program: SyntaxNode): Literal[] {
  const found: Literal[] = [];
  visit(program, (node) => {
    if (node.type !== 'Literal' && node.type !== 'TemplateLiteral') return;
    const value = constantOf(node);
    const isTelling =
      typeof value === 'string' ? value.trim().length > 1 : typeof value === 'number' && Math.abs(value) > 9;
    if (isTelling) found.push({ value: value as string | number, node });
  });
  return found;
}

function addedLiterals({ path, before, after }: FixedFile): SharedLiteral[] {
  const now = parseSource(path, after);
  if (!now) return [];
  const old = before === null ? null : parseSource(path, before);
  const known = new Set(old ? literalsIn(old.program).map(({ value }) => value) : []);
  return literalsIn(now.program)
    .filter(({ value }) => !known.has(value))
    .map(({ value, node }) => ({ value, file: path, line: now.lineAt(node.start) }));
}

const inputs = /^(?:fill|type|pressSequentially|insertText|selectOption|setInputFiles)$/;

/** What the test gives to the app. */
function inputsIn(program: SyntaxNode): Set<string | number> {
  const found = new Set<string | number>();
  visit(program, (node) => {
    const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
    if (!callee || !inputs.test(propertyOf(callee) ?? '')) return;
    const last = nodesIn(node, 'arguments').findLast((one) => one.type !== 'ObjectExpression');
    const value = last && constantOf(last);
    if (typeof value === 'string' || typeof value === 'number') found.add(value);
  });
  return found;
}

/** Another value of the same kind, which is not in the test yet: digits stay digits, letters letters. */
function another(value: string | number, text: string): string | number {
  for (let turn = 1; turn < 26; turn += 1) {
    const next = String(value).replace(/[a-z\d](?=[^a-z\d]*$)/i, (last) => turned(last, turn));
    if (next !== String(value) && !text.includes(next))
      return typeof value === 'number' ? Number(next) : next;
  }
  return typeof value === 'number' ? value + 1000 : `${value} x`;
}

function turned(sign: string, by: number): string {
  if (/\d/.test(sign)) return String((Number(sign) + by) % 10);
  const first = sign === sign.toLowerCase() ? 97 : 65;
  return String.fromCodePoint(first + (((sign.codePointAt(0) ?? first) - first + by) % 26));
}

/** The value in every literal that holds it, so that what is expected of it changes with it. */
function replaced(
  text: string,
  literals: readonly Literal[],
  { of, by }: { of: string | number; by: string | number },
): string {
  return literals
    .filter(({ value }) =>
      typeof of === 'string' ? typeof value === 'string' && value.includes(of) : value === of,
    )
    .toSorted((a, b) => b.node.start - a.node.start)
    .reduce((sum, { node }) => {
      const part = sum.slice(node.start, node.end);
      return sum.slice(0, node.start) + part.replaceAll(String(of), () => String(by)) + sum.slice(node.end);
    }, text);
}
