import { callScope, lookUp, type Scope } from './scope.js';
import { functionOf, requiredBy, resolve, returnedValue } from './sources.js';
import {
  unwrap,
  calleeOf,
  memberNode,
  nameOf,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
} from './syntax.js';

/** The properties of a locator that matter when two locators are compared. */
export interface LocatorText {
  /** The locator without the page that it starts from, and with variables replaced by their values. */
  readonly code: string;
  /** What the chain starts from; empty for a page. */
  readonly root: string;
  /** Texts that it looks for and users perceive: the argument of `getByText`, the name of a role, `hasText`. */
  readonly texts: readonly string[];
  /** Whether it matches something on any page: `body`, `html`, `*`, or a pattern for any text. */
  readonly anything: boolean;
  /** How many alternatives `.or()` and commas in selectors add. */
  readonly alternatives: number;
}

/** Prints an expression that is nested in a locator. */
type Print = (node: SyntaxNode, scope: Scope) => { text: string; locators: readonly LocatorText[] };

const fromPage = /^(?:getBy(?:Role|Text|Label|Placeholder|AltText|Title|TestId)|locator|frameLocator|\$\$?)$/;
const fromLocator = /^(?:filter|first|last|nth|and|or|contentFrame|owner)$/;
const byText = /^getBy(?:Text|Label|Placeholder|AltText|Title)$/;
const page = /^(?:‹[\d.]+›|this|\w+)?\.?(?:\w*[pP]age|frame|popup)$/;

export function isLocatorCall(name: string): boolean {
  return fromPage.test(name) || fromLocator.test(name);
}

/** What is left of a printed argument without its texts, patterns, and calls that only form a text. */
const withoutTexts =
  /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?:[^/\\\n]|\\.)+\/\w*|(?:new RegExp|String|\.(?:to\w+|trim|replace(?:All)?))\(/g;
/** An argument that does something: what a blanked locator hides may have no effect. */
const acts = /\bawait\b|=>|[\w$\])]\(|\+\+|--|(?<![=!<>])=(?!=)/;

/** Reads an expression that creates a locator, or calls a helper that returns one; null for any other expression. */
export function readLocator(given: SyntaxNode, scope: Scope, print: Print): LocatorText | null {
  const node = unwrap(given);
  const callee = calleeOf(node);
  if (!callee) return null;
  const name = propertyOf(callee);
  const receiver = nodeIn(callee, 'object');
  if (name && receiver && isLocatorCall(name)) {
    const of = resolve(receiver, scope);
    const outer = readLocator(of.node, of.scope, print);
    if (!outer && !fromPage.test(name)) return null;
    const root = outer ? outer.root : print(of.node, of.scope).text;
    const printed = nodesIn(node, 'arguments').map((one) => print(one, scope));
    if (printed.some(({ text }) => acts.test(text.replaceAll(withoutTexts, '')))) return null;
    return chained({ outer, root: page.test(root) ? '' : root, name, printed });
  }
  const own = functionOf(callee, scope);
  const called = own && callScope(own, { args: nodesIn(node, 'arguments'), from: scope });
  const value = called && returnedValue({ node: own.node, scope: called });
  if (!value) return null;
  const there = resolve(value.node, value.scope);
  return readLocator(there.node, there.scope, print);
}

/** Returns the numbers in a text. A changed number may be a wrong count or result of the app, whereas renaming something changes no number. */
export function numbersOf(name: string): string {
  return (name.match(/\d+/g) ?? []).join(' ');
}

const selectorFirst =
  /^(?:textContent|inner(?:Text|HTML)|inputValue|is(?:Visible|Hidden|Checked|Enabled|Disabled|Editable)|click|dblclick|fill|type|press|check|uncheck|setChecked|selectOption|hover|tap|focus|setInputFiles|waitForSelector)$/;
const takesValue = /^(?:fill|type|press|selectOption|setInputFiles|setChecked)$/;

/**
 * Rewrites `page.click(selector)` to `page.locator(selector).click()`. A call on a locator has only a value or options as arguments, and is
 * returned unchanged.
 */
export function readBySelector(node: SyntaxNode, isOptions: (node: SyntaxNode) => boolean): SyntaxNode {
  const callee = calleeOf(node);
  const [object, name] = [nodeIn(callee, 'object'), propertyOf(callee) ?? ''];
  const [selector, ...rest] = nodesIn(node, 'arguments');
  const next = takesValue.test(name) ? rest[0] : selector;
  if (!object || !selector || !next || !selectorFirst.test(name) || isOptions(next)) return node;
  const { start, end } = selector;
  const call = {
    type: 'CallExpression',
    callee: memberNode(object, 'locator'),
    arguments: [selector],
    start,
    end,
  };
  const property =
    name === 'waitForSelector' ? { type: 'Identifier', name: 'waitFor', start, end } : callee?.['property'];
  return { ...node, callee: { ...callee, object: call, property }, arguments: rest };
}

interface Link extends Pick<LocatorText, 'root'> {
  readonly outer: LocatorText | null;
  readonly name: string;
  readonly printed: readonly ReturnType<Print>[];
}

function chained({ outer, root, name, printed }: Link): LocatorText {
  const inner = printed.flatMap((one) => one.locators);
  const texts = printed.map((one) => one.text);
  const [first = ''] = texts;
  const own = `${name.startsWith('$') ? 'locator' : name}(${spell(texts.join(', '), inner)})`;
  const seen = textsOf(name, texts);
  return {
    code: outer ? `${outer.code}.${own}` : own,
    root,
    texts: [...(outer?.texts ?? []), ...seen, ...inner.flatMap((one) => one.texts)],
    anything: outer ? outer.anything && fromLocator.test(name) : isAnything(name, first, seen),
    alternatives:
      (outer?.alternatives ?? 0) + (name === 'or' ? 1 : name === 'locator' ? first.split(',').length - 1 : 0),
  };
}

/** Replaces each `‹locator›` in a printed text with the code of the locator. */
export function spell(text: string, inner: readonly LocatorText[]): string {
  let next = 0;
  return text.replaceAll('‹locator›', () => inner[next++]?.code ?? '‹locator›');
}

/** Returns the user-visible texts of a locator call. Asserting that the locator is present asserts these texts, too. */
function textsOf(name: string, args: readonly string[]): string[] {
  const [first = '', second = ''] = args;
  const named = `${first} ${second}`.matchAll(
    /\b(?:name|hasText|hasNotText): ("(?:[^"\\]|\\.)*"|\/(?:[^/\\]|\\.)+\/\w*)/g,
  );
  const selected = first.matchAll(/(?:^"text=|:(?:has-)?text(?:-is)?\()\s*(?:\\?["'])?([^"'\\)]+)/g);
  return [
    ...(byText.test(name) ? [first] : []),
    ...[...named].map((match) => match[1] ?? ''),
    ...(name === 'locator' ? [...selected].map((match) => JSON.stringify(match[1] ?? '')) : []),
  ];
}

function isAnything(name: string, first: string, texts: readonly string[]): boolean {
  if (name === 'locator')
    return /^"(?:css=)?(?:body|html|head|\*|:root|div|span|xpath=\/\/\*|\/\/\*|\/\/body)\s*(?:,.*)?"$/.test(
      first,
    );
  return texts.some((text) =>
    /^(?:""|".?"|\/(?:\.[*+]?|\^|\$|\\w[*+]?|\[\^?\]|\(\?:\)|\.\*\??|\|.*|.*\||\\s\*)\/\w*)$/.test(text),
  );
}

/** Returns the leftmost name of a chain of members and calls, such as `test` in `test.describe.only('x')`; null if there is none. */
export function rootName(given: SyntaxNode): SyntaxNode | null {
  const node = unwrap(given);
  if (node.type === 'Identifier') return node;
  const next = node.type === 'MemberExpression' ? nodeIn(node, 'object') : nodeIn(node, 'callee');
  return next ? rootName(next) : null;
}

/** Returns the names of the chain after its root: `['describe', 'only']`. */
export function chainOf(given: SyntaxNode): string[] {
  const node = unwrap(given);
  if (node.type === 'MemberExpression') {
    const object = nodeIn(node, 'object');
    return [...(object ? chainOf(object) : []), propertyOf(node) ?? '?'];
  }
  const callee = calleeOf(node);
  return callee ? chainOf(callee) : [];
}

/** Whether an expression is Playwright's `test`, under any local name, or a call on it. */
export function isOfTest(node: SyntaxNode | null, scope: Scope): boolean {
  const root = node && rootName(node);
  if (!root) return false;
  const text = String(root['name']);
  if (/^(?:test|it|describe|setup|teardown|testInfo)$/.test(text)) return true;
  const binding = lookUp(text, scope);
  if (binding?.kind === 'import' && binding.name === 'test') return true;
  return binding?.kind === 'value' && originOf(root, scope).endsWith('playwright');
}

/**
 * Returns where `test` ultimately comes from: `playwright`, or the code that replaced it, after the files that extend it:
 * `tests/fixtures.ts < playwright`.
 */
export function originOf(node: SyntaxNode, scope: Scope): string {
  const found = resolve(node, scope);
  if (found.node.type === 'Identifier') {
    const name = String(found.node['name']);
    const binding = lookUp(name, found.scope);
    if (binding?.kind !== 'import') return binding ? 'own code' : `nothing: ${name}`;
    return /playwright/.test(binding.source) ? 'playwright' : binding.source;
  }
  // `require('@playwright/test').expect`
  const of = nodeIn(found.node, 'object');
  const required = of && requiredBy(resolve(of, found.scope).node);
  if (required) return /playwright/.test(required) ? 'playwright' : required;
  const callee = calleeOf(found.node);
  if (/^(?:extend|mergeTests|mergeExpects)$/.test(propertyOf(callee) ?? nameOf(callee) ?? '')) {
    const object = nodeIn(callee, 'object');
    return `${found.scope.file.path} < ${object ? originOf(object, found.scope) : 'playwright'}`;
  }
  return 'own code';
}
