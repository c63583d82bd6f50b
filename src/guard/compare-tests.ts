import { diffArrays } from 'diff';
import {
  findBaseLocator,
  listChain,
  isLocatorCall,
  isPlainLocator,
  printOwnValues,
  printLocator,
} from '../code/locators.js';
import { parseSource, type SourceFile } from '../code/source-file.js';
import {
  evaluateConstant,
  readTemplateText,
  listChildFields,
  isFunction,
  isNode,
  nodeIn,
  nodesIn,
  listNodes,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';
import { isSettled, isWait } from '../code/web-first.js';
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
    now: after && parseUnlessKnown(now.parsed.get(path), path, after.text ?? ''),
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

const parseUnlessKnown = (known: SourceFile | undefined, path: string, text: string) =>
  known?.text === text ? known : parseSource(path, text);

interface Versions {
  readonly path: string;
  readonly old: SourceFile | null;
  readonly now: SourceFile | null;
}

interface Rules {
  readonly uses: LocatorUses;
  /** The current titles of all tests in the changed files. */
  readonly titles: ReadonlySet<string>;
  readonly isFlaky: boolean;
}

/** The nodes at one place in one version. */
type Nodes = readonly SyntaxNode[];

function compareFile({ path: file, old, now }: Versions, { uses, titles, isFlaky }: Rules): Comparison {
  const differences = new Map<string, TestDifference>();
  const locatorChanges: LocatorChange[] = [];
  const addDifference = (
    olds: Nodes,
    news: Nodes,
    test: string,
    { why = null }: { readonly why?: string | null } = {},
  ) => {
    const [node] = news.length > 0 ? news : olds;
    const line = (news.length > 0 ? now : old)?.lineAt(node?.start ?? 0) ?? 1;
    const strength = why === null ? compareStrength(olds, news, titles) : 'different';
    const [before, after] = [printLines(olds, old), printLines(news, now)];
    const known = differences.get(`${test}:${line}`);
    if (known?.strength !== 'weaker' || strength === 'weaker')
      differences.set(`${test}:${line}`, { test, file, line, strength, before, after, why });
  };

  const compareLocator = (was: SyntaxNode, is: SyntaxNode, test: string) => {
    const known = new Set(listNodes(was).map((node) => printLocator(node)));
    const isLiteral = listChain(is)
      .flatMap((call) => nodesIn(call, 'arguments'))
      .every((node) => isPlainLocator(node) || known.has(printLocator(node)));
    const why = isLiteral ? uses.explainLocatorChange(was, is) : 'its target is computed';
    addLocatorChange(was, is, test, why);
  };
  const addLocatorChange = (was: SyntaxNode, is: SyntaxNode, test: string, why: string | null) => {
    if (why !== null) return addDifference([was], [is], test, { why });
    const [before, after] = [printCode(was, old), printCode(is, now)];
    const line = now?.lineAt(is.start) ?? 1;
    locatorChanges.push({ old: before, now: after, file, line });
  };

  const compareNodes = (before: SyntaxNode, after: SyntaxNode, test: string): void => {
    const [was, is] = [unwrap(before), unwrap(after)];
    const [constant, now] = [evaluateConstant(was), evaluateConstant(is)];
    if (constant !== undefined && constant === now) return;
    if (isLocatorCall(was) && isLocatorCall(is)) {
      compareNodes(findBaseLocator(was), findBaseLocator(is), test);
      const readLiteral = (node: SyntaxNode) =>
        listChain(node)
          .map((call) => printLocatorArguments(call))
          .join();
      if (readLiteral(was) !== readLiteral(is)) compareLocator(was, is, test);
      return;
    }
    if (typeof constant === 'string' && typeof now === 'string') {
      const why = uses.explainStringChange(was, is);
      return why === undefined ? addDifference([was], [is], test) : addLocatorChange(was, is, test, why);
    }
    if (was.type !== is.type || printOwnValues(was) !== printOwnValues(is))
      return addDifference([was], [is], test);
    const title = joinTitles(test, readTitle(is));
    for (const field of listChildFields(was)) {
      const [olds, news] = [listRuntimeNodes(was, field), listRuntimeNodes(is, field)];
      if (field === 'body' && Array.isArray(was[field])) alignStatements(olds, news, title);
      else if (olds.length !== news.length) addDifference([was], [is], title);
      else for (const [at, node] of olds.entries()) compareNodes(node, news[at] ?? node, title);
    }
  };

  const joinTitles = (test: string, title: string | null) =>
    title === null ? test : test === file ? title : `${test} › ${title}`;

  const alignStatements = (olds: Nodes, news: Nodes, test: string) => {
    const isSame = (a: SyntaxNode, b: SyntaxNode) =>
      printLocator(a, true) === printLocator(b, true) || (isFlaky && old !== null && isSettled(a, b, old));
    const [oldLeft, newLeft, gone, come] = [[...olds], [...news], [] as SyntaxNode[], [] as SyntaxNode[]];
    const end = { added: false, removed: false, count: 0 };
    for (const { added, removed, count } of [...diffArrays(oldLeft, newLeft, { comparator: isSame }), end])
      if (removed) gone.push(...oldLeft.splice(0, count));
      else if (added) come.push(...newLeft.splice(0, count));
      else {
        compareReplaced(gone.splice(0), come.splice(0), test);
        const same = newLeft.splice(0, count);
        for (const [at, was] of oldLeft.splice(0, count).entries()) {
          const is = same[at];
          if (is && printLocator(was, true) === printLocator(is, true)) compareNodes(was, is, test);
        }
      }
  };

  /** Compares replaced statements: tests by their titles, other statements in their order. */
  const compareReplaced = (removed: Nodes, added: Nodes, test: string) => {
    for (const title of new Set([...removed, ...added].map(readStatementTitle))) {
      const [was = [], is = []] = [removed, added].map((all) =>
        all.filter((node) => readStatementTitle(node) === title),
      );
      if (was.length === is.length)
        for (const [at, node] of was.entries()) compareNodes(node, is[at] ?? node, test);
      else if (title !== null || !isFlaky || was.length > 0 || !is.every(isWait))
        addDifference(was, is, joinTitles(test, title));
    }
  };

  if (old && now) compareNodes(old.program, now.program, file);
  else {
    // For an added or deleted file, lists its tests; if it has none, lists every statement.
    const [olds, news] = [old, now].map((source) => {
      const all = source ? listRuntimeNodes(source.program, 'body') : [];
      return all.some(isTest) ? all.filter(isTest) : all;
    });
    alignStatements(olds ?? [], news ?? [], file);
  }
  return { differences: [...differences.values()], locatorChanges };
}

/** Returns the arguments of a locator call, without the locator that it is chained to. */
const printLocatorArguments = (call: SyntaxNode) =>
  `${propertyOf(nodeIn(call, 'callee'))}(${nodesIn(call, 'arguments')
    .map((argument) => printLocator(argument))
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
  const args = node.type === 'CallExpression' ? nodesIn(node, 'arguments') : [];
  const last = args.at(-1);
  const [first] = args;
  if (!first || !last || first === last || !isFunction(last) || propertyOf(nodeIn(node, 'callee')) === 'step')
    return null;
  const title = evaluateConstant(first);
  if (typeof title === 'string') return title;
  return first.type === 'TemplateLiteral'
    ? nodesIn(first, 'quasis').map(readTemplateText).join('${…}')
    : null;
}

const readStatementTitle = (statement: SyntaxNode) =>
  readTitle(unwrap(nodeIn(statement, 'expression') ?? statement));
const isTest = (statement: SyntaxNode) => readStatementTitle(statement) !== null;

const listTitles = (program: SyntaxNode) => listNodes(program).flatMap((node) => readTitle(node) ?? []);

/** Calls and words that let a test continue after a failure, or skip steps. */
const looseningName = /^(?:skip|fixme|fail|only|slow|soft|catch|allSettled|race|toPass)$/;
const branchingType =
  /^(?:If|Try|Return|Break|Continue|For|ForIn|ForOf|While|DoWhile|Switch)Statement$|^(?:Conditional|Logical)Expression$/;

/** Code is weaker if it has fewer tests, expectations or compared values than before, or makes a step conditional. */
function compareStrength(olds: Nodes, news: Nodes, titles: ReadonlySet<string>): Strength {
  const [was, is] = [olds, news].map((all) => all.flatMap((node) => listNodes(node)));
  const isMoved = (node: SyntaxNode) => titles.has(readStatementTitle(node) ?? '\0');
  if (olds.length === 0 && news.every(isTest)) return 'new';
  if (!was || !is || (news.length === 0 && olds.every(isMoved))) return 'different';
  const count = (nodes: Nodes, countIn: (node: SyntaxNode) => number) =>
    nodes.reduce((sum, node) => sum + countIn(node), 0);
  const countChecks = (node: SyntaxNode) => {
    const callee = nodeIn(node, 'callee');
    if (node.type !== 'CallExpression' || !callee) return 0;
    const isMatcher = /^to[A-Z]/.test(propertyOf(callee) ?? '');
    return (
      (readTitle(node) === null ? 0 : 1) +
      (isMatcher ? 1 + Math.min(1, nodesIn(node, 'arguments').length) : 0)
    );
  };
  const countLoosening = (node: SyntaxNode) =>
    Number(looseningName.test(propertyOf(node) ?? '') || branchingType.test(node.type));
  return count(is, countChecks) < count(was, countChecks) ||
    count(is, countLoosening) > count(was, countLoosening)
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
