import { listChain, isLocatorCall, printLocator, listTexts, listWords } from '../code/locators.js';
import type { SourceFile } from '../code/source-file.js';
import {
  listChildren,
  evaluateConstant,
  identifierName,
  isFunction,
  isWrapper,
  readLastName,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';

/** Explains why a change to a locator, or to a string in locators, needs a person, judging by its uses in the tests; null if it needs none. */
export interface LocatorUses {
  explainLocatorChange(old: SyntaxNode, now: SyntaxNode): string | null;
  /** Returns undefined if anything but locators reads the string. */
  explainStringChange(old: SyntaxNode, now: SyntaxNode): string | null | undefined;
}

const countingMethod = /^(?:count|all|first|last|nth|allTextContents|allInnerTexts|evaluateAll)$/;
const actionMethod =
  /^(?:click|dblclick|fill|press|pressSequentially|type|check|uncheck|setChecked|selectOption|selectText|setInputFiles|hover|tap|focus|blur|clear|dragTo|dispatchEvent|scrollIntoViewIfNeeded)$/;
const readingMethod = /^(?:textContent|innerText|inputValue|getAttribute)$/;
const presenceMatcher = /^toBe(?:Visible|Attached|InViewport|Enabled|Disabled|Editable|Checked|Focused)$/;
const textMatcher =
  /^to(?:HaveText|ContainText|HaveValue|HaveAttribute|HaveClass|ContainClass|HaveId|HaveRole|HaveCSS|HaveAccessible\w+|Be|Equal|StrictEqual|Contain|Match)$/;

/** Selectors that match any text of a page. */
const wholePage = /^(?:html|body|main|document|:root|\*|\/\/\*)/;

const whyCounted = 'its elements are counted or listed';
const whyAbsent = 'the test expects it to be absent';
const whyOtherUse = 'it is used for more than an action or an expected text';
const whyUnknown = 'nothing shows how it is used';

/**
 * Finds the uses of locators in the current tests. Follows names without resolving scopes, in a file and its importers: the same name counts as the
 * same thing.
 */
export function createLocatorUses(files: () => readonly SourceFile[]): LocatorUses {
  const parents = new Map<SyntaxNode, SyntaxNode>();
  const named = new Map<string, SyntaxNode[]>();
  const index = (node: SyntaxNode): void => {
    if (node.type.endsWith('Identifier')) {
      const name = String(node['name']);
      named.set(name, [...(named.get(name) ?? []), node]);
    }
    for (const child of listChildren(node)) {
      parents.set(child, node);
      index(child);
    }
  };
  const parentOf = (node: SyntaxNode): SyntaxNode | null => {
    if (parents.size === 0) for (const { program } of files()) index(program);
    const parent = parents.get(node) ?? null;
    return parent && isWrapper(parent) ? parentOf(parent) : parent;
  };
  return {
    explainLocatorChange: (old, now) => judgeUse(now, { old, now, followed: new Set() }),
    explainStringChange: (old, now) => {
      const uses = listNamesHolding(now).flatMap(findUses);
      const locators = uses.map((use) => use && findEnclosingLocator(use));
      if (uses.length === 0 || locators.includes(null)) return undefined;
      return findFirstReason(locators, { old, now, followed: new Set() });
    },
  };

  /** Returns the names that hold a string: a variable, or a field of an object; none for a computed access such as `selectors[name]`. */
  function listNamesHolding(node: SyntaxNode): string[] {
    const name = findGivenName(node);
    const property = parentOf(node);
    if (name === null) return [];
    if (property?.type !== 'Property') return [name];
    const object = parentOf(property);
    const holders = object ? listNamesHolding(object) : [];
    const isField = (use: SyntaxNode | null) => use !== null && propertyOf(parentOf(use)) !== null;
    return holders.length > 0 && holders.flatMap(findUses).every(isField) ? [name] : [];
  }

  /** Returns the name of a value, or of the function that returns it; null if it has none. */
  function findGivenName(value: SyntaxNode): string | null {
    const parent = parentOf(value);
    if (!parent) return null;
    const { type } = parent;
    const isValue = ['init', 'value', 'right'].some((field) => unwrapOrNull(nodeIn(parent, field)) === value);
    if (isValue && /^(?:VariableDeclarator|Property(?:Definition)?|MethodDefinition)$/.test(type))
      return identifierName(nodeIn(parent, 'id') ?? nodeIn(parent, 'key'));
    if (isValue && type === 'AssignmentExpression') return readLastName(nodeIn(parent, 'left')) || null;
    if (type === 'FunctionDeclaration') return identifierName(nodeIn(parent, 'id'));
    return isFunction(parent) || /^(?:Return|Block)Statement$/.test(type) ? findGivenName(parent) : null;
  }

  /** Returns the expressions that use this name, with null for one that renames it. Declarations do not count. */
  function findUses(name: string): (SyntaxNode | null)[] {
    return (named.get(name) ?? []).flatMap((node) => {
      const parent = parents.get(node);
      if (!parent) return [];
      const { type } = parent;
      const declared = [nodeIn(parent, 'id'), parent['computed'] === true ? null : nodeIn(parent, 'key')];
      if (declared.includes(node) || (isFunction(parent) && nodesIn(parent, 'params').includes(node)))
        return [];
      const isPattern = type === 'Property' && parents.get(parent)?.type === 'ObjectPattern';
      const origin = ['imported', 'exported', 'local'].flatMap((field) => nodeIn(parent, field) ?? [])[0];
      const first = isPattern ? nodeIn(parent, 'key') : type.endsWith('Specifier') ? origin : null;
      if (first) return identifierName(first) === name ? [] : [null];
      const isProperty =
        type === 'MemberExpression' && nodeIn(parent, 'property') === node && parent['computed'] !== true;
      const use = isProperty ? parent : node;
      const assigned = parentOf(use);
      if (assigned?.type === 'AssignmentExpression' && nodeIn(assigned, 'left') === use) return [];
      return [use];
    });
  }

  /** Returns the locator that has a node in its arguments, directly or within a template or an object; null if there is none. */
  function findEnclosingLocator(node: SyntaxNode): SyntaxNode | null {
    const parent = parentOf(node);
    if (!parent) return null;
    if (isLocatorCall(parent))
      return nodesIn(parent, 'arguments').some((argument) => unwrap(argument) === node) ? parent : null;
    return /^(?:TemplateLiteral|BinaryExpression|Property|ObjectExpression)$/.test(parent.type)
      ? findEnclosingLocator(parent)
      : null;
  }

  interface Changed {
    readonly old: SyntaxNode;
    readonly now: SyntaxNode;
    readonly followed: Set<string>;
  }

  function judgeUse(node: SyntaxNode, change: Changed): string | null {
    const parent = parentOf(node);
    if (!parent) return whyUnknown;
    // A locator in the arguments of another one is part of that one's target.
    const outer = findEnclosingLocator(node);
    if (outer) return judgeUse(outer, change);
    const call = parentOf(parent);
    if (parent.type === 'MemberExpression' && unwrapOrNull(nodeIn(parent, 'object')) === node)
      return call?.type === 'CallExpression' && unwrapOrNull(nodeIn(call, 'callee')) === parent
        ? judgeCall(propertyOf(parent) ?? '', call, change)
        : whyOtherUse;
    if (parent.type === 'CallExpression') {
      const callee = nodeIn(parent, 'callee');
      const method = readLastName(callee);
      if (callee && unwrap(callee) === node) return judgeUse(parent, change);
      if (method === 'dragTo') return null;
      if (/^(?:or|and)$/.test(method)) return judgeUse(parent, change);
      return identifierName(callee) === 'expect' || identifierName(nodeIn(callee, 'object')) === 'expect'
        ? judgeExpectation(parent, change)
        : whyOtherUse;
    }
    const name = findGivenName(node);
    if (name === null) return whyOtherUse;
    if (change.followed.has(name)) return null;
    change.followed.add(name);
    const uses = findUses(name);
    return uses.length === 0 ? whyUnknown : findFirstReason(uses, change);
  }

  function findFirstReason(uses: readonly (SyntaxNode | null)[], change: Changed): string | null {
    return uses.map((use) => (use ? judgeUse(use, change) : whyUnknown)).find((why) => why !== null) ?? null;
  }

  function judgeCall(method: string, call: SyntaxNode, change: Changed): string | null {
    if (isLocatorCall(call) || /^(?:or|and|contentFrame|owner|describe)$/.test(method))
      return judgeUse(call, change);
    if (countingMethod.test(method)) return whyCounted;
    if (actionMethod.test(method)) return null;
    const words = nodesIn(call, 'arguments').flatMap(listWords);
    if (method === 'waitFor')
      return words.some((word) => /^(?:hidden|detached)$/.test(word)) ? whyAbsent : judgePresence(change);
    const awaited = readingMethod.test(method) ? parentOf(call) : null;
    const expected = awaited?.type === 'AwaitExpression' ? parentOf(awaited) : null;
    return expected?.type === 'CallExpression' && identifierName(nodeIn(expected, 'callee')) === 'expect'
      ? judgeExpectation(expected, change)
      : whyOtherUse;
  }

  function judgeExpectation(expected: SyntaxNode, change: Changed): string | null {
    const member = parentOf(expected);
    const matcher = propertyOf(member) ?? '';
    const call = member && parentOf(member);
    if (matcher === 'not' || matcher === 'toBeHidden') return whyAbsent;
    if (!member || call?.type !== 'CallExpression') return whyOtherUse;
    const args = nodesIn(call, 'arguments');
    if (matcher === 'toHaveCount' || args[0]?.type === 'ArrayExpression') return whyCounted;
    if (presenceMatcher.test(matcher))
      return args
        .flatMap(listNames)
        .some((name) => /^(?:visible|attached|enabled|checked|editable)$/.test(name))
        ? whyAbsent
        : judgePresence(change);
    const [first] = args;
    if (!textMatcher.test(matcher) || !first || (evaluateConstant(first) === undefined && !first['regex']))
      return whyOtherUse;
    const olds = listWords(change.old);
    const addedWords = listWords(change.now).filter((word) => !olds.includes(word));
    if (addedWords.some((word) => wholePage.test(word))) return 'it finds the whole page';
    const isOwn = args
      .flatMap(listWords)
      .some((text) => addedWords.some((word) => text.includes(word) || word.includes(text)));
    return isOwn ? 'it looks for the expected text itself' : null;
  }
}

/** Explains why an expectation that an element exists needs a person; null if the new locator contains all texts of the old one. */
function judgePresence({ old, now }: { readonly old: SyntaxNode; readonly now: SyntaxNode }): string | null {
  const [olds, news] = [listTexts(old), listTexts(now)];
  const isNegated = listChain(now).some((call) => /"hasNot(?:Text)?"/.test(printLocator(call)));
  const isKept = olds.length > 0 && olds.every((word) => news.includes(word));
  return isKept && !isNegated ? null : 'the test expects it to exist, and no text identifies it';
}

const listNames = (node: SyntaxNode) =>
  nodesIn(node, 'properties').flatMap((property) => identifierName(nodeIn(property, 'key')) ?? []);

const unwrapOrNull = (node: SyntaxNode | null) => node && unwrap(node);
