import type { LocatorText } from '../../core/guard/outline.js';
import type { Printing } from './printing.js';
import { declareAll, declarePattern, innerScope, type Scope } from './scope.js';
import { bare, isFunction, nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode } from './syntax.js';

const fromPage = /^(?:getBy(?:Role|Text|Label|Placeholder|AltText|Title|TestId)|locator|frameLocator|\$\$?)$/;
const fromLocator = /^(?:filter|first|last|nth|and|or|contentFrame|owner)$/;
const byText = /^getBy(?:Text|Label|Placeholder|AltText|Title)$/;

/** Reads an expression that makes a locator (or calls a helper that returns one), else null. */
export function readLocator(given: SyntaxNode, scope: Scope, at: Printing): LocatorText | null {
  if (at.depth > 30) return null;
  const node = bare(given);
  if (node.type !== 'CallExpression') return null;
  const callee = nodeIn(node, 'callee');
  if (!callee) return null;
  const name = callee.type === 'MemberExpression' ? propertyOf(callee) : null;
  const receiver = callee.type === 'MemberExpression' ? nodeIn(callee, 'object') : null;
  const deeper = { ...at, depth: at.depth + 1 };
  if (name && receiver && (fromPage.test(name) || fromLocator.test(name))) {
    const of = at.sources.resolve(receiver, scope);
    const outer = readLocator(of.node, of.scope, deeper);
    if (outer || fromPage.test(name)) return chained({ outer, name, node, scope, at: deeper });
  }
  return returnedLocator(node, scope, deeper);
}

interface Link {
  readonly outer: LocatorText | null;
  readonly name: string;
  readonly node: SyntaxNode;
  readonly scope: Scope;
  readonly at: Printing;
}

function chained({ outer, name, node, scope, at }: Link): LocatorText {
  const inner: LocatorText[] = [];
  const args = nodesIn(node, 'arguments').map((one) => at.print(one, scope, { ...at, locators: inner }));
  const spelled = args.map((text) => spell(text, inner));
  const own = `${name === '$' || name === '$$' ? 'locator' : name}(${spelled.join(', ')})`;
  const texts = textsOf(name, args);
  return {
    code: outer ? `${outer.code}.${own}` : own,
    texts: [...(outer?.texts ?? []), ...texts, ...inner.flatMap((one) => one.texts)],
    anything: isAnything(name, args[0] ?? '', texts) && (outer === null || name === 'or'),
    alternatives: (outer?.alternatives ?? 0) + (name === 'or' ? 1 : 0),
  };
}

function spell(text: string, inner: readonly LocatorText[]): string {
  let next = 0;
  return text.replaceAll('‹locator›', () => inner[next++]?.code ?? '‹locator›');
}

/** The texts that a visitor could see: they are an expectation where the locator is asserted to be there. */
function textsOf(name: string, args: readonly string[]): string[] {
  const [first = '', second = ''] = args;
  const named = [
    ...`${first} ${second}`.matchAll(
      /\b(?:name|hasText|hasNotText): ("(?:[^"\\]|\\.)*"|\/(?:[^/\\]|\\.)+\/\w*)/g,
    ),
  ];
  const selected = [...first.matchAll(/(?:^"text=|:(?:has-)?text(?:-is)?\()\s*(?:\\?["'])?([^"'\\)]+)/g)];
  return [
    ...(byText.test(name) ? [first] : []),
    ...named.map((match) => match[1] ?? ''),
    ...(name === 'locator' ? selected.map((match) => JSON.stringify(match[1] ?? '')) : []),
  ];
}

function isAnything(name: string, first: string, texts: readonly string[]): boolean {
  if (
    name === 'locator' &&
    /^"(?:css=)?(?:body|html|head|\*|:root|div|span|xpath=\/\/\*|\/\/\*|\/\/body)"$/.test(first)
  )
    return true;
  return texts.some((text) =>
    /^(?:""|\/(?:\.[*+]?|\^|\$|\\w[*+]?|\[\^?\]|\(\?:\)|\.\*\??|\|.*|\\s\*)\/\w*)$/.test(text),
  );
}

/** `row('Tea')` where `row = (name) => page.getByRole('row', { name })`. */
function returnedLocator(node: SyntaxNode, scope: Scope, at: Printing): LocatorText | null {
  const callee = nodeIn(node, 'callee');
  const made = callee ? at.sources.functionOf(callee, scope) : null;
  if (!made || !isFunction(made.node)) return null;
  const within = callScope(made, { call: node, scope });
  const body = nodeIn(made.node, 'body');
  const value = body?.type === 'BlockStatement' ? returnedBy(body, within) : body;
  if (!value) return null;
  const { node: found, scope: there } = at.sources.resolve(value, within);
  return readLocator(found, there, at);
}

function returnedBy(body: SyntaxNode, within: Scope): SyntaxNode | null {
  const statements = nodesIn(body, 'body');
  declareAll(statements, within);
  const last = statements.at(-1);
  return last?.type === 'ReturnStatement' ? nodeIn(last, 'argument') : null;
}

/** The names inside a function that is called with these arguments. */
export function callScope(
  made: { readonly node: SyntaxNode; readonly scope: Scope },
  from: { readonly call: SyntaxNode; readonly scope: Scope },
): Scope {
  const within = innerScope(made.scope);
  const args = nodesIn(from.call, 'arguments');
  nodesIn(made.node, 'params').forEach((param, index) => {
    const [left, given] = [param.type === 'AssignmentPattern' ? nodeIn(param, 'left') : param, args[index]];
    const fallback = param.type === 'AssignmentPattern' ? nodeIn(param, 'right') : null;
    const name = left?.type === 'TSParameterProperty' ? null : nameOf(left);
    const value = given ?? fallback;
    if (name && value)
      within.names.set(name, { kind: 'value', node: value, scope: given ? from.scope : made.scope });
    else if (left) bindPattern(left, { given, within, scope: from.scope, index });
  });
  return within;
}

interface PatternArgument {
  readonly given: SyntaxNode | undefined;
  readonly within: Scope;
  readonly scope: Scope;
  readonly index: number;
}

/** `({ name, price }) => …` called with an object literal. */
function bindPattern(pattern: SyntaxNode, { given, within, scope, index }: PatternArgument): void {
  declarePattern(pattern, { scope: within, label: `‹${index}›` });
  if (given?.type !== 'ObjectExpression' || pattern.type !== 'ObjectPattern') return;
  for (const one of nodesIn(pattern, 'properties')) {
    const local = nameOf(nodeIn(one, 'value'));
    const key = nameOf(nodeIn(one, 'key'));
    const property = nodesIn(given, 'properties').find((other) => nameOf(nodeIn(other, 'key')) === key);
    const value = property && nodeIn(property, 'value');
    if (local && value) within.names.set(local, { kind: 'value', node: value, scope });
  }
}
