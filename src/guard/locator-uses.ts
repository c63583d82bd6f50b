import { chainOf, isLocatorCall, printLocator, textsOf, wordsIn } from '../code/locators.js';
import type { SourceFile } from '../code/source-file.js';
import {
  childrenOf,
  constantOf,
  identifierName,
  isFunction,
  isWrapper,
  lastName,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';

/** Says why a person is asked about a locator, by what the tests do with it; null if it may change by itself. */
export interface Uses {
  ofLocator(old: SyntaxNode, now: SyntaxNode): string | null;
  /** The same for a string; undefined if not only locators read it. */
  ofString(old: SyntaxNode, now: SyntaxNode): string | null | undefined;
}

const counting = /^(?:count|all|first|last|nth|allTextContents|allInnerTexts|evaluateAll)$/;
const acting =
  /^(?:click|dblclick|fill|press|pressSequentially|type|check|uncheck|setChecked|selectOption|selectText|setInputFiles|hover|tap|focus|blur|clear|dragTo|dispatchEvent|scrollIntoViewIfNeeded)$/;
const reading = /^(?:textContent|innerText|inputValue|getAttribute)$/;
const ofPresence = /^toBe(?:Visible|Attached|InViewport|Enabled|Disabled|Editable|Checked|Focused)$/;
const ofText =
  /^to(?:HaveText|ContainText|HaveValue|HaveAttribute|HaveClass|ContainClass|HaveId|HaveRole|HaveCSS|HaveAccessible\w+|Be|Equal|StrictEqual|Contain|Match)$/;

/** What finds any text of a page. */
const wholePage = /^(?:html|body|main|document|:root|\*|\/\/\*)/;

const isCounted = 'its elements are counted or listed';
const isAbsent = 'it is expected to be absent';
const isOther = 'what it finds is used in another way than to act on it or to expect a text';
const isUnknown = 'nothing shows how it is used';

/**
 * Looks at what the tests do with locators as they are now. Names are followed as they are written, in a file and those that import it: the same name
 * counts as the same thing.
 */
export function createUses(files: () => readonly SourceFile[]): Uses {
  const parents = new Map<SyntaxNode, SyntaxNode>();
  const named = new Map<string, SyntaxNode[]>();
  const index = (node: SyntaxNode): void => {
    if (node.type.endsWith('Identifier')) {
      const name = String(node['name']);
      named.set(name, [...(named.get(name) ?? []), node]);
    }
    for (const child of childrenOf(node)) {
      parents.set(child, node);
      index(child);
    }
  };
  const up = (node: SyntaxNode): SyntaxNode | null => {
    if (parents.size === 0) for (const { program } of files()) index(program);
    const parent = parents.get(node) ?? null;
    return parent && isWrapper(parent) ? up(parent) : parent;
  };
  return {
    ofLocator: (old, now) => usedAt(now, { old, now, followed: new Set() }),
    ofString: (old, now) => {
      const uses = holdersOf(now).flatMap(usesOf);
      const locators = uses.map((use) => use && locatorAround(use));
      if (uses.length === 0 || locators.includes(null)) return undefined;
      return firstReason(locators, { old, now, followed: new Set() });
    },
  };

  /** Returns the names that hold a string: a variable, or a field of an object. Nobody knows which field `selectors[name]` is: then there are none. */
  function holdersOf(node: SyntaxNode): string[] {
    const name = ownerOf(node);
    const property = up(node);
    if (name === null) return [];
    if (property?.type !== 'Property') return [name];
    const object = up(property);
    const holders = object ? holdersOf(object) : [];
    const isField = (use: SyntaxNode | null) => use !== null && propertyOf(up(use)) !== null;
    return holders.length > 0 && holders.flatMap(usesOf).every(isField) ? [name] : [];
  }

  /** Returns the name that is given to a value, or to the function that returns it; null if it has none. */
  function ownerOf(value: SyntaxNode): string | null {
    const parent = up(value);
    if (!parent) return null;
    const { type } = parent;
    const isValue = ['init', 'value', 'right'].some((field) => unwrapped(nodeIn(parent, field)) === value);
    if (isValue && /^(?:VariableDeclarator|Property(?:Definition)?|MethodDefinition)$/.test(type))
      return identifierName(nodeIn(parent, 'id') ?? nodeIn(parent, 'key'));
    if (isValue && type === 'AssignmentExpression') return lastName(nodeIn(parent, 'left')) || null;
    if (type === 'FunctionDeclaration') return identifierName(nodeIn(parent, 'id'));
    return isFunction(parent) || /^(?:Return|Block)Statement$/.test(type) ? ownerOf(parent) : null;
  }

  /** Returns the expressions that say this name, with null for one that gives it another. Declarations say nothing. */
  function usesOf(name: string): (SyntaxNode | null)[] {
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
      const assigned = up(use);
      if (assigned?.type === 'AssignmentExpression' && nodeIn(assigned, 'left') === use) return [];
      return [use];
    });
  }

  /** Returns the locator in whose arguments a node is, alone or within a text or an object; null if it is elsewhere. */
  function locatorAround(node: SyntaxNode): SyntaxNode | null {
    const parent = up(node);
    if (!parent) return null;
    if (isLocatorCall(parent))
      return nodesIn(parent, 'arguments').some((argument) => unwrap(argument) === node) ? parent : null;
    return /^(?:TemplateLiteral|BinaryExpression|Property|ObjectExpression)$/.test(parent.type)
      ? locatorAround(parent)
      : null;
  }

  interface Changed {
    readonly old: SyntaxNode;
    readonly now: SyntaxNode;
    readonly followed: Set<string>;
  }

  function usedAt(node: SyntaxNode, change: Changed): string | null {
    const parent = up(node);
    if (!parent) return isUnknown;
    // A locator within the arguments of another is a part of what that one looks for.
    const outer = locatorAround(node);
    if (outer) return usedAt(outer, change);
    const call = up(parent);
    if (parent.type === 'MemberExpression' && unwrapped(nodeIn(parent, 'object')) === node)
      return call?.type === 'CallExpression' && unwrapped(nodeIn(call, 'callee')) === parent
        ? calledAt(propertyOf(parent) ?? '', call, change)
        : isOther;
    if (parent.type === 'CallExpression') {
      const callee = nodeIn(parent, 'callee');
      const method = lastName(callee);
      if (callee && unwrap(callee) === node) return usedAt(parent, change);
      if (method === 'dragTo') return null;
      if (/^(?:or|and)$/.test(method)) return usedAt(parent, change);
      return identifierName(callee) === 'expect' || identifierName(nodeIn(callee, 'object')) === 'expect'
        ? expectedAt(parent, change)
        : isOther;
    }
    const name = ownerOf(node);
    if (name === null) return isOther;
    if (change.followed.has(name)) return null;
    change.followed.add(name);
    const uses = usesOf(name);
    return uses.length === 0 ? isUnknown : firstReason(uses, change);
  }

  function firstReason(uses: readonly (SyntaxNode | null)[], change: Changed): string | null {
    return uses.map((use) => (use ? usedAt(use, change) : isUnknown)).find((why) => why !== null) ?? null;
  }

  function calledAt(method: string, call: SyntaxNode, change: Changed): string | null {
    if (isLocatorCall(call) || /^(?:or|and|contentFrame|owner|describe)$/.test(method))
      return usedAt(call, change);
    if (counting.test(method)) return isCounted;
    if (acting.test(method)) return null;
    const words = nodesIn(call, 'arguments').flatMap(wordsIn);
    if (method === 'waitFor')
      return words.some((word) => /^(?:hidden|detached)$/.test(word)) ? isAbsent : presence(change);
    const awaited = reading.test(method) ? up(call) : null;
    const expected = awaited?.type === 'AwaitExpression' ? up(awaited) : null;
    return expected?.type === 'CallExpression' && identifierName(nodeIn(expected, 'callee')) === 'expect'
      ? expectedAt(expected, change)
      : isOther;
  }

  function expectedAt(expected: SyntaxNode, change: Changed): string | null {
    const member = up(expected);
    const matcher = propertyOf(member) ?? '';
    const call = member && up(member);
    if (matcher === 'not' || matcher === 'toBeHidden') return isAbsent;
    if (!member || call?.type !== 'CallExpression') return isOther;
    const args = nodesIn(call, 'arguments');
    if (matcher === 'toHaveCount' || args[0]?.type === 'ArrayExpression') return isCounted;
    if (ofPresence.test(matcher))
      return args
        .flatMap(namesIn)
        .some((name) => /^(?:visible|attached|enabled|checked|editable)$/.test(name))
        ? isAbsent
        : presence(change);
    const [first] = args;
    if (!ofText.test(matcher) || !first || (constantOf(first) === undefined && !first['regex']))
      return isOther;
    const olds = wordsIn(change.old);
    const own = wordsIn(change.now).filter((word) => !olds.includes(word));
    if (own.some((word) => wholePage.test(word))) return 'it finds the whole page';
    const isOwn = args
      .flatMap(wordsIn)
      .some((text) => own.some((word) => text.includes(word) || word.includes(text)));
    return isOwn ? 'it looks for what is expected of it' : null;
  }
}

/** Whether what has to be there is the same: the text that the old locator looks for is what the new one looks for, too. */
function presence({ old, now }: { readonly old: SyntaxNode; readonly now: SyntaxNode }): string | null {
  const [olds, news] = [textsOf(old), textsOf(now)];
  const isNegated = chainOf(now).some((call) => /"hasNot(?:Text)?"/.test(printLocator(call)));
  const isKept = olds.length > 0 && olds.every((word) => news.includes(word));
  return isKept && !isNegated ? null : 'that it is there is what is expected, and no text says what it is';
}

const namesIn = (node: SyntaxNode) =>
  nodesIn(node, 'properties').flatMap((property) => identifierName(nodeIn(property, 'key')) ?? []);

const unwrapped = (node: SyntaxNode | null) => node && unwrap(node);
