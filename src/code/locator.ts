import { bare, calleeOf, propertyOf } from './expressions.js';
import { returnedValue } from './returned-value.js';
import { callScope, type Scope } from './scope.js';
import { functionOf, resolve } from './sources.js';
import { memberNode, nodeIn, nodesIn, type SyntaxNode } from './syntax.js';

/** A locator as far as it matters: what it looks for, and whether it can miss. */
export interface LocatorText {
  /** Without the page it starts from, variables replaced by their values. */
  readonly code: string;
  /** What it starts from; empty for a page. */
  readonly root: string;
  /** Texts that a visitor sees or hears: `getByText`, the name of a role, `hasText`. */
  readonly texts: readonly string[];
  /** `body`, `html`, `*`, a pattern for any text: it matches any page. */
  readonly anything: boolean;
  /** How many alternatives `.or()` and commas of a selector add. */
  readonly alternatives: number;
}

/** What reading a locator needs: `print` gives the text of what is inside. */
export interface LocatorContext {
  /** How many links of the chain are behind. */
  readonly depth?: number;
  readonly print: (node: SyntaxNode, scope: Scope) => { text: string; locators: readonly LocatorText[] };
}

const fromPage = /^(?:getBy(?:Role|Text|Label|Placeholder|AltText|Title|TestId)|locator|frameLocator|\$\$?)$/;
const fromLocator = /^(?:filter|first|last|nth|and|or|contentFrame|owner)$/;
const byText = /^getBy(?:Text|Label|Placeholder|AltText|Title)$/;
const page = /^(?:‹[\d.]+›|this|\w+)?\.?(?:\w*[pP]age|frame|popup)$/;

/** Reads an expression that makes a locator (or calls a helper that returns one), else null. */
export function readLocator(given: SyntaxNode, scope: Scope, at: LocatorContext): LocatorText | null {
  const { depth = 0 } = at;
  const deeper = { ...at, depth: depth + 1 };
  const node = bare(given);
  const callee = depth < 100 ? calleeOf(node) : null;
  if (!callee) return null;
  const name = propertyOf(callee);
  const receiver = nodeIn(callee, 'object');
  if (name && receiver && (fromPage.test(name) || fromLocator.test(name))) {
    const of = resolve(receiver, scope);
    const outer = readLocator(of.node, of.scope, deeper);
    if (!outer && !fromPage.test(name)) return null;
    const root = outer ? outer.root : at.print(of.node, of.scope).text;
    const printed = nodesIn(node, 'arguments').map((one) => at.print(one, scope));
    return chained({ outer, root: page.test(root) ? '' : root, name, printed });
  }
  const own = functionOf(callee, scope);
  const called = own && callScope(own, { args: nodesIn(node, 'arguments'), from: scope });
  const value = called && returnedValue({ node: own.node, scope: called });
  if (!value) return null;
  const there = resolve(value.node, value.scope);
  return readLocator(there.node, there.scope, deeper);
}

/** The numbers in a text. One that changed was counted or computed, and may be what is wrong: no name differs in it. */
export function numbersOf(name: string): string {
  return (name.match(/\d+/g) ?? []).join(' ');
}

const selectorFirst =
  /^(?:textContent|inner(?:Text|HTML)|inputValue|is(?:Visible|Hidden|Checked|Enabled|Disabled|Editable)|click|dblclick|fill|type|press|check|uncheck|setChecked|selectOption|hover|tap|focus|setInputFiles|waitForSelector)$/;
const takesValue = /^(?:fill|type|press|selectOption|setInputFiles|setChecked)$/;

/** `page.click(selector)` as `page.locator(selector).click()`; a locator takes only the value or the options, so that its call stays as it is. */
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
  return { ...node, callee: { ...callee, object: call }, arguments: rest };
}

interface Link extends Pick<LocatorText, 'root'> {
  readonly outer: LocatorText | null;
  readonly name: string;
  readonly printed: readonly ReturnType<LocatorContext['print']>[];
}

function chained({ outer, root, name, printed }: Link): LocatorText {
  const inner = printed.flatMap((one) => one.locators);
  const texts = printed.map((one) => one.text);
  const [first = ''] = texts;
  const own = `${name.startsWith('$') ? 'locator' : name}(${spell(texts.join(', '), inner)})`;
  const seen = textsOf(name, texts);
  const all = isAnything(name, first, seen);
  return {
    code: outer ? `${outer.code}.${own}` : own,
    root,
    texts: [...(outer?.texts ?? []), ...seen, ...inner.flatMap((one) => one.texts)],
    anything:
      outer === null || name === 'or'
        ? all || inner.some((one) => one.anything && name === 'or')
        : outer.anything && fromLocator.test(name),
    alternatives:
      (outer?.alternatives ?? 0) + (name === 'or' ? 1 : name === 'locator' ? first.split(',').length - 1 : 0),
  };
}

/** A printed text with its locators written out. */
export function spell(text: string, inner: readonly LocatorText[]): string {
  let next = 0;
  return text.replaceAll('‹locator›', () => inner[next++]?.code ?? '‹locator›');
}

/** The texts that a visitor could see: they are an expectation where the locator is asserted to be there. */
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
