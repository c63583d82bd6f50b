import { diffArrays } from 'diff';
import {
  findBaseLocator,
  listChain,
  isLocatorCall,
  isPlainArgument,
  printOwnValues,
  printTree,
} from '../code/locators.js';
import { parseSource, type SourceFile } from '../code/source-file.js';
import {
  evaluateConstant,
  getCallee,
  readTemplate,
  listChildFields,
  isFunction,
  isNode,
  getNode,
  getNodes,
  listNodes,
  getProperty,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';
import { onlyAddsWaiting, isWait } from '../code/web-first.js';
import type { GuardedChange } from './change.js';
import type { LocatorChange, Strength, TestDifference } from './findings.js';
import { createLocatorUses, type LocatorUses } from './locator-uses.js';
import { findImporters } from './test-code.js';

/** The differences between the tests, and the changed locators that need no person. */
export interface Comparison {
  readonly differences: readonly TestDifference[];
  readonly locatorChanges: readonly LocatorChange[];
}

/**
 * Compares the two syntax trees of each changed test file (HN-3, HN-4). Allowed changes are the arguments of locators, and strings that only locators
 * read; anything else is a difference. A flaky test may also get new waits (FL-3).
 */
export function compareTests(
  { testEdits, now }: Pick<GuardedChange, 'testEdits' | 'now'>,
  isFlaky = false,
): Comparison {
  const files = testEdits.map(({ path, before, after }) => ({
    path,
    old: before && parseSource(path, before.text ?? ''),
    // For cut edits, the tests keep the old version.
    now: after && reuseOrParse(now.parsed.get(path), path, after.text ?? ''),
  }));
  const titles = new Set(files.flatMap((file) => (file.now ? listTitles(file.now.program) : [])));
  const compared = files.map((file) => {
    const uses = createLocatorUses(() => findImporters(now, file.path));
    return compareFile(file, { uses, titles, isFlaky });
  });
  return {
    differences: compared.flatMap(({ differences }) => differences),
    locatorChanges: compared.flatMap(({ locatorChanges }) => locatorChanges),
  };
}

const reuseOrParse = (parsed: SourceFile | undefined, path: string, text: string) =>
  parsed?.text === text ? parsed : parseSource(path, text);

interface FileVersions {
  readonly path: string;
  readonly old: SourceFile | null;
  readonly now: SourceFile | null;
}

interface Context {
  readonly uses: LocatorUses;
  /** The current titles of all tests in the changed files. */
  readonly titles: ReadonlySet<string>;
  readonly isFlaky: boolean;
}

/** Nodes of one version of a file. */
type Nodes = readonly SyntaxNode[];

function compareFile({ path: file, old, now }: FileVersions, { uses, titles, isFlaky }: Context): Comparison {
  const differences = new Map<string, TestDifference>();
  const locatorChanges: LocatorChange[] = [];
  const addDifference = (
    oldNodes: Nodes,
    newNodes: Nodes,
    test: string,
    { why = null }: { readonly why?: string | null } = {},
  ) => {
    const [node] = newNodes.length > 0 ? newNodes : oldNodes;
    const line = (newNodes.length > 0 ? now : old)?.lineAt(node?.start ?? 0) ?? 1;
    const strength = why === null ? compareStrength(oldNodes, newNodes, titles) : 'different';
    const [before, after] = [printLines(oldNodes, old), printLines(newNodes, now)];
    const existing = differences.get(`${test}:${line}`);
    if (existing?.strength !== 'weaker' || strength === 'weaker')
      differences.set(`${test}:${line}`, { test, file, line, strength, before, after, why });
  };

  const compareLocator = (oldNode: SyntaxNode, newNode: SyntaxNode, test: string) => {
    const oldParts = new Set(listNodes(oldNode).map((node) => printTree(node)));
    const isStatic = listChain(newNode)
      .flatMap((call) => getNodes(call, 'arguments'))
      .every((node) => isPlainArgument(node) || oldParts.has(printTree(node)));
    const why = isStatic ? uses.explainLocatorChange(oldNode, newNode) : 'its target is computed';
    addLocatorChange(oldNode, newNode, test, why);
  };
  const addLocatorChange = (oldNode: SyntaxNode, newNode: SyntaxNode, test: string, why: string | null) => {
    if (why !== null) return addDifference([oldNode], [newNode], test, { why });
    const [before, after] = [printCode(oldNode, old), printCode(newNode, now)];
    const line = now?.lineAt(newNode.start) ?? 1;
    locatorChanges.push({ old: before, now: after, file, line });
  };

  const compareNodes = (before: SyntaxNode, after: SyntaxNode, test: string): void => {
    const [oldNode, newNode] = [unwrap(before), unwrap(after)];
    const [constant, now] = [evaluateConstant(oldNode), evaluateConstant(newNode)];
    if (constant !== undefined && constant === now) return;
    if (isLocatorCall(oldNode) && isLocatorCall(newNode)) {
      compareNodes(findBaseLocator(oldNode), findBaseLocator(newNode), test);
      const printArguments = (node: SyntaxNode) =>
        listChain(node)
          .map((call) => printLocatorArguments(call))
          .join();
      if (printArguments(oldNode) !== printArguments(newNode)) compareLocator(oldNode, newNode, test);
      return;
    }
    if (typeof constant === 'string' && typeof now === 'string') {
      const why = uses.explainStringChange(oldNode, newNode);
      return why === undefined
        ? addDifference([oldNode], [newNode], test)
        : addLocatorChange(oldNode, newNode, test, why);
    }
    if (oldNode.type !== newNode.type || printOwnValues(oldNode) !== printOwnValues(newNode))
      return addDifference([oldNode], [newNode], test);
    const title = joinTitles(test, readTitle(newNode));
    for (const field of listChildFields(oldNode)) {
      const [oldNodes, newNodes] = [listRuntimeNodes(oldNode, field), listRuntimeNodes(newNode, field)];
      if (field === 'body' && Array.isArray(oldNode[field])) alignStatements(oldNodes, newNodes, title);
      else if (oldNodes.length !== newNodes.length) addDifference([oldNode], [newNode], title);
      else for (const [index, node] of oldNodes.entries()) compareNodes(node, newNodes[index] ?? node, title);
    }
  };

  const joinTitles = (test: string, title: string | null) =>
    title === null ? test : test === file ? title : `${test} › ${title}`;

  const alignStatements = (oldNodes: Nodes, newNodes: Nodes, test: string) => {
    const isSame = (a: SyntaxNode, b: SyntaxNode) =>
      printTree(a, true) === printTree(b, true) || (isFlaky && old !== null && onlyAddsWaiting(a, b, old));
    const [oldRest, newRest] = [[...oldNodes], [...newNodes]];
    const [removedNodes, addedNodes] = [[] as SyntaxNode[], [] as SyntaxNode[]];
    const end = { added: false, removed: false, count: 0 };
    for (const { added, removed, count } of [...diffArrays(oldRest, newRest, { comparator: isSame }), end])
      if (removed) removedNodes.push(...oldRest.splice(0, count));
      else if (added) addedNodes.push(...newRest.splice(0, count));
      else {
        compareReplacements(removedNodes.splice(0), addedNodes.splice(0), test);
        const same = newRest.splice(0, count);
        for (const [index, oldNode] of oldRest.splice(0, count).entries()) {
          const newNode = same[index];
          if (newNode && printTree(oldNode, true) === printTree(newNode, true))
            compareNodes(oldNode, newNode, test);
        }
      }
  };

  /** Compares statements that replace others: tests by title, other statements in order. */
  const compareReplacements = (removed: Nodes, added: Nodes, test: string) => {
    for (const title of new Set([...removed, ...added].map(readStatementTitle))) {
      const [olds = [], news = []] = [removed, added].map((nodes) =>
        nodes.filter((node) => readStatementTitle(node) === title),
      );
      if (olds.length === news.length)
        for (const [index, node] of olds.entries()) compareNodes(node, news[index] ?? node, test);
      else if (title !== null || !isFlaky || olds.length > 0 || !news.every(isWait))
        addDifference(olds, news, joinTitles(test, title));
    }
  };

  if (old && now) compareNodes(old.program, now.program, file);
  else {
    // For an added or deleted file, lists its tests; if it has none, lists every statement.
    const [oldNodes, newNodes] = [old, now].map((source) => {
      const all = source ? listRuntimeNodes(source.program, 'body') : [];
      return all.some(isTest) ? all.filter(isTest) : all;
    });
    alignStatements(oldNodes ?? [], newNodes ?? [], file);
  }
  return { differences: [...differences.values()], locatorChanges };
}

/** Returns the arguments of a locator call, without the locator that it is chained to. */
const printLocatorArguments = (call: SyntaxNode) =>
  `${getProperty(getNode(call, 'callee'))}(${getNodes(call, 'arguments')
    .map((argument) => printTree(argument))
    .join()})`;

/** Returns the nodes of a field that exist at run time. */
function listRuntimeNodes(node: SyntaxNode, field: string): SyntaxNode[] {
  return [node[field]].flat().filter(isNode).filter(existsAtRunTime);
}

function existsAtRunTime({ type, importKind, exportKind }: SyntaxNode): boolean {
  return (
    importKind !== 'type' &&
    exportKind !== 'type' &&
    !/^(?:TS(?:Interface|TypeAlias)Declaration|EmptyStatement)$/.test(type)
  );
}

/** Returns the title of a test or of a group of tests; null for any other node. */
function readTitle(node: SyntaxNode): string | null {
  const args = node.type === 'CallExpression' ? getNodes(node, 'arguments') : [];
  const last = args.at(-1);
  const [first] = args;
  if (!first || !last || first === last || !isFunction(last) || getProperty(getCallee(node)) === 'step')
    return null;
  const title = evaluateConstant(first);
  if (typeof title === 'string') return title;
  return first.type === 'TemplateLiteral' ? getNodes(first, 'quasis').map(readTemplate).join('${…}') : null;
}

const readStatementTitle = (statement: SyntaxNode) =>
  readTitle(unwrap(getNode(statement, 'expression') ?? statement));
const isTest = (statement: SyntaxNode) => readStatementTitle(statement) !== null;

const listTitles = (program: SyntaxNode) => listNodes(program).flatMap((node) => readTitle(node) ?? []);

/** Calls and words that let a test continue after a failure, or skip steps. */
const looseningName = /^(?:skip|fixme|fail|only|slow|soft|catch|allSettled|race|toPass)$/;
const branchingType =
  /^(?:If|Try|Return|Break|Continue|For|ForIn|ForOf|While|DoWhile|Switch)Statement$|^(?:Conditional|Logical)Expression$/;

/** Code is weaker if it has fewer tests, expectations or expected values than before, or makes a step conditional. */
function compareStrength(oldNodes: Nodes, newNodes: Nodes, titles: ReadonlySet<string>): Strength {
  const [before, after] = [oldNodes, newNodes].map((nodes) => nodes.flatMap((node) => listNodes(node)));
  const isMoved = (node: SyntaxNode) => titles.has(readStatementTitle(node) ?? '\0');
  if (oldNodes.length === 0 && newNodes.every(isTest)) return 'new';
  if (!before || !after || (newNodes.length === 0 && oldNodes.every(isMoved))) return 'different';
  const count = (nodes: Nodes, countIn: (node: SyntaxNode) => number) =>
    nodes.reduce((sum, node) => sum + countIn(node), 0);
  const countChecks = (node: SyntaxNode) => {
    const callee = getNode(node, 'callee');
    if (node.type !== 'CallExpression' || !callee) return 0;
    const isMatcher = /^to[A-Z]/.test(getProperty(callee) ?? '');
    return (
      (readTitle(node) === null ? 0 : 1) +
      (isMatcher ? 1 + Math.min(1, getNodes(node, 'arguments').length) : 0)
    );
  };
  const countLoosening = (node: SyntaxNode) =>
    Number(looseningName.test(getProperty(node) ?? '') || branchingType.test(node.type));
  return count(after, countChecks) < count(before, countChecks) ||
    count(after, countLoosening) > count(before, countLoosening)
    ? 'weaker'
    : 'different';
}

const printCode = (node: SyntaxNode, source: SourceFile | null) =>
  (source?.text ?? '').slice(node.start, node.end).replaceAll(/\s*\n\s*/g, '');

function printLines(nodes: Nodes, source: SourceFile | null): string[] {
  return nodes.flatMap(({ start, end }) => {
    const [first, last] = [start, Math.max(start, end - 1)].map((offset) => source?.lineAt(offset) ?? 1);
    return source?.lines.slice((first ?? 1) - 1, last).map((line) => line.trim()) ?? [];
  });
}
