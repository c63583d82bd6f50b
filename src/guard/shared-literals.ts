import { programsIn } from '../code/scripts.js';
import {
  calleeOf,
  childrenOf,
  constantOf,
  isFunction,
  nodeIn,
  nodesOf,
  propertyOf,
  type SourceFile,
  type SyntaxNode,
} from '../code/syntax.js';
import type { FileEdit } from './edit.js';

/** A literal that a fix added to the app and that a test uses too: perhaps the app answers this test alone. */
export interface SharedLiteral {
  readonly value: string | number;
  /** Where the fix added it. */
  readonly file: string;
  readonly line: number;
  /** Something hangs on it: it is compared with, or looked up by. */
  readonly decides: boolean;
}

/** A literal and where it stands. */
export interface Literal {
  readonly value: string | number;
  readonly node: SyntaxNode;
}

/** Finds the literals that a fix added to the app and that these files of the tests use too. */
export function sharedLiterals(
  edits: readonly FileEdit[],
  tests: readonly SourceFile[],
): readonly SharedLiteral[] {
  const added = edits.flatMap(addedLiterals);
  if (added.length === 0) return [];
  const used = new Set(tests.flatMap(({ program }) => literalsIn(program).map(({ value }) => value)));
  const texts = [...used].join('\n');
  const shared = added.filter(({ value }) =>
    typeof value === 'string'
      ? used.has(value)
      : new RegExp(String.raw`(?<![\d.])${value}(?!\d)`).test(texts),
  );
  return [...new Map(shared.map((one) => [`${one.value} ${one.decides}`, one])).values()];
}

/** Texts of two letters and more, and numbers of two digits and more: shorter ones are anybody's. */
export function literalsIn(program: SyntaxNode): Literal[] {
  return nodesOf(program).flatMap((node) => {
    const value = tellingValue(node);
    return value === null ? [] : [{ value, node }];
  });
}

function tellingValue(node: SyntaxNode): string | number | null {
  if (node.type !== 'Literal' && node.type !== 'TemplateLiteral') return null;
  const value = constantOf(node);
  if (typeof value === 'string') return value.trim().length > 1 ? value : null;
  return typeof value === 'number' && value > 9 ? value : null;
}

function addedLiterals({ path, before, after }: FileEdit): SharedLiteral[] {
  const [olds = [], news = []] = [before, after].map((one) => programsIn(path, one?.text ?? ''));
  const known = new Set(olds.flatMap(({ program }) => literalsIn(program)).map(({ value }) => value));
  return news.flatMap(({ program, lineAt }) => {
    const deciding = decidingNodes(program);
    return literalsIn(program)
      .filter(({ value }) => !known.has(value))
      .map(({ value, node }) => {
        return { value, file: path, line: lineAt(node.start), decides: deciding.has(node) };
      });
  });
}

const lookups = /^(?:includes|startsWith|endsWith|has|get|indexOf|localeCompare|test|match)$/;

/** `name === 'Ada'`, `case 'Ada':`, `{ Ada: … }`, `answers['Ada']`, `['Ada'].includes(name)`. */
function decidingNodes(program: SyntaxNode): ReadonlySet<SyntaxNode> {
  const found = new Set<SyntaxNode>();
  for (const node of nodesOf(program)) {
    const isCompared = node.type === 'BinaryExpression' && /^[!=]==?$/.test(String(node['operator']));
    const isLookUp = lookups.test(propertyOf(calleeOf(node)) ?? '');
    const key = {
      SwitchCase: 'test',
      Property: 'key',
      MemberExpression: node['computed'] === true ? 'property' : '',
    }[node.type];
    const parts = isCompared || isLookUp ? childrenOf(node) : [nodeIn(node, key ?? '') ?? []].flat();
    for (const one of parts.filter((part) => !isFunction(part)).flatMap(nodesOf)) found.add(one);
  }
  return found;
}
