import { listChain, isLocatorCall, printTree, listTexts, listStrings } from '../code/locators.js';
import type { SourceFile } from '../code/source-file.js';
import {
  listChildren,
  evaluateConstant,
  readName,
  isFunction,
  isWrapper,
  readLastName,
  getNode,
  getNodes,
  getProperty,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';

/** Explains why a change to a locator, or to a string in locators, needs a person's decision; null if it does not. The uses in the tests decide. */
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

/** Selectors that match any text on a page. */
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
  const nodesByName = new Map<string, SyntaxNode[]>();
  const indexNode = (node: SyntaxNode): void => {
    if (node.type.endsWith('Identifier')) {
      const name = String(node['name']);
      nodesByName.set(name, [...(nodesByName.get(name) ?? []), node]);
    }
    for (const child of listChildren(node)) {
      parents.set(child, node);
      indexNode(child);
    }
  };
  const findParent = (node: SyntaxNode): SyntaxNode | null => {
    if (parents.size === 0) for (const { program } of files()) indexNode(program);
    const parent = parents.get(node) ?? null;
    return parent && isWrapper(parent) ? findParent(parent) : parent;
  };
  return {
    explainLocatorChange: (old, now) => judgeUse(now, { old, now, followedNames: new Set() }),
    explainStringChange: (old, now) => {
      const uses = listNamesHolding(now).flatMap(findUses);
      const locators = uses.map((use) => use && findEnclosingLocator(use));
      if (uses.length === 0 || locators.includes(null)) return undefined;
      return findFirstReason(locators, { old, now, followedNames: new Set() });
    },
  };

  /** Returns the names that hold a string: a variable, or a field of an object; none for a computed access such as `selectors[name]`. */
  function listNamesHolding(node: SyntaxNode): string[] {
    const name = findAssignedName(node);
    const property = findParent(node);
    if (name === null) return [];
    if (property?.type !== 'Property') return [name];
    const object = findParent(property);
    const holders = object ? listNamesHolding(object) : [];
    const isField = (use: SyntaxNode | null) => use !== null && getProperty(findParent(use)) !== null;
    return holders.length > 0 && holders.flatMap(findUses).every(isField) ? [name] : [];
  }

  /** Returns the name of a value, or of the function that returns it; null if it has none. */
  function findAssignedName(value: SyntaxNode): string | null {
    const parent = findParent(value);
    if (!parent) return null;
    const { type } = parent;
    const holdsValue = ['init', 'value', 'right'].some(
      (field) => unwrapOrNull(getNode(parent, field)) === value,
    );
    if (holdsValue && /^(?:VariableDeclarator|Property(?:Definition)?|MethodDefinition)$/.test(type))
      return readName(getNode(parent, 'id') ?? getNode(parent, 'key'));
    if (holdsValue && type === 'AssignmentExpression') return readLastName(getNode(parent, 'left')) || null;
    if (type === 'FunctionDeclaration') return readName(getNode(parent, 'id'));
    return isFunction(parent) || /^(?:Return|Block)Statement$/.test(type) ? findAssignedName(parent) : null;
  }

  /** Returns the expressions that use this name; null stands for a use that renames it. Declarations do not count. */
  function findUses(name: string): (SyntaxNode | null)[] {
    return (nodesByName.get(name) ?? []).flatMap((node) => {
      const parent = parents.get(node);
      if (!parent) return [];
      const { type } = parent;
      const names = [getNode(parent, 'id'), parent['computed'] === true ? null : getNode(parent, 'key')];
      if (names.includes(node) || (isFunction(parent) && getNodes(parent, 'params').includes(node)))
        return [];
      const isPattern = type === 'Property' && parents.get(parent)?.type === 'ObjectPattern';
      const origin = ['imported', 'exported', 'local'].flatMap((field) => getNode(parent, field) ?? [])[0];
      const first = isPattern ? getNode(parent, 'key') : type.endsWith('Specifier') ? origin : null;
      if (first) return readName(first) === name ? [] : [null];
      const isProperty =
        type === 'MemberExpression' && getNode(parent, 'property') === node && parent['computed'] !== true;
      const use = isProperty ? parent : node;
      const assigned = findParent(use);
      if (assigned?.type === 'AssignmentExpression' && getNode(assigned, 'left') === use) return [];
      return [use];
    });
  }

  /** Returns the locator whose arguments contain a node, directly or within a template or an object; null if there is none. */
  function findEnclosingLocator(node: SyntaxNode): SyntaxNode | null {
    const parent = findParent(node);
    if (!parent) return null;
    if (isLocatorCall(parent))
      return getNodes(parent, 'arguments').some((argument) => unwrap(argument) === node) ? parent : null;
    return /^(?:TemplateLiteral|BinaryExpression|Property|ObjectExpression)$/.test(parent.type)
      ? findEnclosingLocator(parent)
      : null;
  }

  interface LocatorEdit {
    readonly old: SyntaxNode;
    readonly now: SyntaxNode;
    readonly followedNames: Set<string>;
  }

  function judgeUse(node: SyntaxNode, change: LocatorEdit): string | null {
    const parent = findParent(node);
    if (!parent) return whyUnknown;
    // A locator in the arguments of another one is part of that one's target.
    const outer = findEnclosingLocator(node);
    if (outer) return judgeUse(outer, change);
    const call = findParent(parent);
    if (parent.type === 'MemberExpression' && unwrapOrNull(getNode(parent, 'object')) === node)
      return call?.type === 'CallExpression' && unwrapOrNull(getNode(call, 'callee')) === parent
        ? judgeCall(getProperty(parent) ?? '', call, change)
        : whyOtherUse;
    if (parent.type === 'CallExpression') {
      const callee = getNode(parent, 'callee');
      const method = readLastName(callee);
      if (callee && unwrap(callee) === node) return judgeUse(parent, change);
      if (method === 'dragTo') return null;
      if (/^(?:or|and)$/.test(method)) return judgeUse(parent, change);
      return readName(callee) === 'expect' || readName(getNode(callee, 'object')) === 'expect'
        ? judgeExpectation(parent, change)
        : whyOtherUse;
    }
    const name = findAssignedName(node);
    if (name === null) return whyOtherUse;
    if (change.followedNames.has(name)) return null;
    change.followedNames.add(name);
    const uses = findUses(name);
    return uses.length === 0 ? whyUnknown : findFirstReason(uses, change);
  }

  function findFirstReason(uses: readonly (SyntaxNode | null)[], change: LocatorEdit): string | null {
    return uses.map((use) => (use ? judgeUse(use, change) : whyUnknown)).find((why) => why !== null) ?? null;
  }

  function judgeCall(method: string, call: SyntaxNode, change: LocatorEdit): string | null {
    if (isLocatorCall(call) || /^(?:or|and|contentFrame|owner|describe)$/.test(method))
      return judgeUse(call, change);
    if (countingMethod.test(method)) return whyCounted;
    if (actionMethod.test(method)) return null;
    const words = getNodes(call, 'arguments').flatMap(listStrings);
    if (method === 'waitFor')
      return words.some((word) => /^(?:hidden|detached)$/.test(word)) ? whyAbsent : judgePresence(change);
    const awaited = readingMethod.test(method) ? findParent(call) : null;
    const expected = awaited?.type === 'AwaitExpression' ? findParent(awaited) : null;
    return expected?.type === 'CallExpression' && readName(getNode(expected, 'callee')) === 'expect'
      ? judgeExpectation(expected, change)
      : whyOtherUse;
  }

  function judgeExpectation(expected: SyntaxNode, change: LocatorEdit): string | null {
    const member = findParent(expected);
    const matcher = getProperty(member) ?? '';
    const call = member && findParent(member);
    if (matcher === 'not' || matcher === 'toBeHidden') return whyAbsent;
    if (!member || call?.type !== 'CallExpression') return whyOtherUse;
    const args = getNodes(call, 'arguments');
    if (matcher === 'toHaveCount' || args[0]?.type === 'ArrayExpression') return whyCounted;
    if (presenceMatcher.test(matcher))
      return args
        .flatMap(listKeys)
        .some((name) => /^(?:visible|attached|enabled|checked|editable)$/.test(name))
        ? whyAbsent
        : judgePresence(change);
    const [first] = args;
    if (!textMatcher.test(matcher) || !first || (evaluateConstant(first) === undefined && !first['regex']))
      return whyOtherUse;
    const oldWords = listStrings(change.old);
    const addedWords = listStrings(change.now).filter((word) => !oldWords.includes(word));
    if (addedWords.some((word) => wholePage.test(word))) return 'it matches the whole page';
    const isExpectedText = args
      .flatMap(listStrings)
      .some((text) => addedWords.some((word) => text.includes(word) || word.includes(text)));
    return isExpectedText ? 'it looks for the expected text itself' : null;
  }
}

/** Explains why the expectation that an element exists needs a person; null if the new locator contains all texts of the old one. */
function judgePresence({ old, now }: { readonly old: SyntaxNode; readonly now: SyntaxNode }): string | null {
  const [oldWords, newWords] = [listTexts(old), listTexts(now)];
  const isNegated = listChain(now).some((call) => /"hasNot(?:Text)?"/.test(printTree(call)));
  const isKept = oldWords.length > 0 && oldWords.every((word) => newWords.includes(word));
  return isKept && !isNegated ? null : 'the test expects it to exist, and no text identifies it';
}

const listKeys = (node: SyntaxNode) =>
  getNodes(node, 'properties').flatMap((property) => readName(getNode(property, 'key')) ?? []);

const unwrapOrNull = (node: SyntaxNode | null) => node && unwrap(node);
