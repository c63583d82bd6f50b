import { diffArrays } from 'diff';
import {
  baseLocatorOf,
  chainOf,
  isLocatorCall,
  isPlainLocator,
  ownValues,
  printLocator,
} from '../code/locators.js';
import { parseSource, type SourceFile } from '../code/source-file.js';
import {
  constantOf,
  cookedText,
  fieldsOf,
  isFunction,
  isNode,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';
import { isSettled, isWait } from '../code/web-first.js';
import type { GuardedChange } from './change.js';
import type { LocatorChange, Strength, TestDifference } from './findings.js';
import { createUses, type Uses } from './locator-uses.js';
import { importersOf } from './test-code.js';

/** What the tests do differently, and the locators that may change by themselves. */
export interface Comparison {
  readonly differences: readonly TestDifference[];
  readonly locatorChanges: readonly LocatorChange[];
}

/**
 * Walks the two syntax trees of each changed file of the tests side by side (HN-3, HN-4). They may differ within what locators look for, and in strings
 * that only locators read; anything else is a difference. A flaky test may also wait for what it did not wait for (FL-3).
 */
export function compareTests(
  { ofTests, now }: Pick<GuardedChange, 'ofTests' | 'now'>,
  isFlaky = false,
): Comparison {
  const files = ofTests.map(({ path, before, after }) => ({
    path,
    old: before && parseSource(path, before.text ?? ''),
    // Of what is cut, the tests have the old version.
    now: after && parsedAs(now.parsed.get(path), path, after.text ?? ''),
  }));
  const titles = new Set(files.flatMap((file) => (file.now ? titlesIn(file.now.program) : [])));
  const compared = files.map((file) => {
    const uses = createUses(() => importersOf(now, file.path));
    return compareFile(file, { uses, titles, isFlaky });
  });
  return {
    differences: compared.flatMap(({ differences }) => differences),
    locatorChanges: compared.flatMap(({ locatorChanges }) => locatorChanges),
  };
}

const parsedAs = (known: SourceFile | undefined, path: string, text: string) =>
  known?.text === text ? known : parseSource(path, text);

interface Versions {
  readonly path: string;
  readonly old: SourceFile | null;
  readonly now: SourceFile | null;
}

interface Rules {
  readonly uses: Uses;
  /** The titles of all tests of the changed files as they are now. */
  readonly titles: ReadonlySet<string>;
  readonly isFlaky: boolean;
}

/** What is in a place in one of the versions. */
type Nodes = readonly SyntaxNode[];

function compareFile({ path: file, old, now }: Versions, { uses, titles, isFlaky }: Rules): Comparison {
  const differences = new Map<string, TestDifference>();
  const locatorChanges: LocatorChange[] = [];
  const differ = (
    olds: Nodes,
    news: Nodes,
    test: string,
    { why = null }: { readonly why?: string | null } = {},
  ) => {
    const [node] = news.length > 0 ? news : olds;
    const line = (news.length > 0 ? now : old)?.lineAt(node?.start ?? 0) ?? 1;
    const strength = why === null ? strengthOf(olds, news, titles) : 'different';
    const [before, after] = [linesOf(olds, old), linesOf(news, now)];
    const known = differences.get(`${test}:${line}`);
    if (known?.strength !== 'weaker' || strength === 'weaker')
      differences.set(`${test}:${line}`, { test, file, line, strength, before, after, why });
  };

  const located = (was: SyntaxNode, is: SyntaxNode, test: string) => {
    const known = new Set(nodesOf(was).map((node) => printLocator(node)));
    const isSaid = chainOf(is)
      .flatMap((call) => nodesIn(call, 'arguments'))
      .every((node) => isPlainLocator(node) || known.has(printLocator(node)));
    enter(was, is, test, isSaid ? uses.ofLocator(was, is) : 'what it looks for is computed');
  };
  const enter = (was: SyntaxNode, is: SyntaxNode, test: string, why: string | null) => {
    if (why !== null) return differ([was], [is], test, { why });
    const [before, after] = [codeOf(was, old), codeOf(is, now)];
    const line = now?.lineAt(is.start) ?? 1;
    locatorChanges.push({ old: before, now: after, file, line });
  };

  const walk = (before: SyntaxNode, after: SyntaxNode, test: string): void => {
    const [was, is] = [unwrap(before), unwrap(after)];
    const [constant, now] = [constantOf(was), constantOf(is)];
    if (constant !== undefined && constant === now) return;
    if (isLocatorCall(was) && isLocatorCall(is)) {
      walk(baseLocatorOf(was), baseLocatorOf(is), test);
      const saying = (node: SyntaxNode) =>
        chainOf(node)
          .map((call) => sayingOf(call))
          .join();
      if (saying(was) !== saying(is)) located(was, is, test);
      return;
    }
    if (typeof constant === 'string' && typeof now === 'string') {
      const why = uses.ofString(was, is);
      return why === undefined ? differ([was], [is], test) : enter(was, is, test, why);
    }
    if (was.type !== is.type || ownValues(was) !== ownValues(is)) return differ([was], [is], test);
    const title = within(test, titleOf(is));
    for (const field of fieldsOf(was)) {
      const [olds, news] = [partsIn(was, field), partsIn(is, field)];
      if (field === 'body' && Array.isArray(was[field])) alignStatements(olds, news, title);
      else if (olds.length !== news.length) differ([was], [is], title);
      else for (const [at, node] of olds.entries()) walk(node, news[at] ?? node, title);
    }
  };

  const within = (test: string, title: string | null) =>
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
          if (is && printLocator(was, true) === printLocator(is, true)) walk(was, is, test);
        }
      }
  };

  /** Compares statements that stand in the place of others: tests by their titles, the others in their order. */
  const compareReplaced = (gone: Nodes, come: Nodes, test: string) => {
    for (const title of new Set([...gone, ...come].map(titleIn))) {
      const [was = [], is = []] = [gone, come].map((all) => all.filter((node) => titleIn(node) === title));
      if (was.length === is.length) for (const [at, node] of was.entries()) walk(node, is[at] ?? node, test);
      else if (title !== null || !isFlaky || was.length > 0 || !is.every(isWait))
        differ(was, is, within(test, title));
    }
  };

  if (old && now) walk(old.program, now.program, file);
  else {
    // Of a file that came or went, its tests are told, or all of it if it has none.
    const [olds, news] = [old, now].map((source) => {
      const all = source ? partsIn(source.program, 'body') : [];
      return all.some(isTest) ? all.filter(isTest) : all;
    });
    alignStatements(olds ?? [], news ?? [], file);
  }
  return { differences: [...differences.values()], locatorChanges };
}

/** Returns what a call of a locator says, but not what it begins at. */
const sayingOf = (call: SyntaxNode) =>
  `${propertyOf(nodeIn(call, 'callee'))}(${nodesIn(call, 'arguments')
    .map((argument) => printLocator(argument))
    .join()})`;

/** Returns the nodes of a field that exist at run time. */
function partsIn(node: SyntaxNode, field: string): SyntaxNode[] {
  return [node[field]].flat().filter(isNode).filter(isRun);
}

function isRun({ type, importKind, exportKind }: SyntaxNode): boolean {
  return (
    importKind !== 'type' &&
    exportKind !== 'type' &&
    !/^(?:TS(?:Interface|TypeAlias)Declaration|EmptyStatement)$/.test(type)
  );
}

/** Returns the title of a test or of a group of tests; null for any other node. */
function titleOf(node: SyntaxNode): string | null {
  const args = node.type === 'CallExpression' ? nodesIn(node, 'arguments') : [];
  const last = args.at(-1);
  const [first] = args;
  if (!first || !last || first === last || !isFunction(last) || propertyOf(nodeIn(node, 'callee')) === 'step')
    return null;
  const title = constantOf(first);
  if (typeof title === 'string') return title;
  return first.type === 'TemplateLiteral' ? nodesIn(first, 'quasis').map(cookedText).join('${…}') : null;
}

const titleIn = (statement: SyntaxNode) => titleOf(unwrap(nodeIn(statement, 'expression') ?? statement));
const isTest = (statement: SyntaxNode) => titleIn(statement) !== null;

const titlesIn = (program: SyntaxNode) => nodesOf(program).flatMap((node) => titleOf(node) ?? []);

/** Calls and words that make a test go on where it would have failed, or leave out what it would have done. */
const loosening = /^(?:skip|fixme|fail|only|slow|soft|catch|allSettled|race|toPass)$/;
const branching =
  /^(?:If|Try|Return|Break|Continue|For|ForIn|ForOf|While|DoWhile|Switch)Statement$|^(?:Conditional|Logical)Expression$/;

/** A test is weaker if it defines, expects or compares less than before, or does something on a condition only. */
function strengthOf(olds: Nodes, news: Nodes, titles: ReadonlySet<string>): Strength {
  const [was, is] = [olds, news].map((all) => all.flatMap((node) => nodesOf(node)));
  const isMoved = (node: SyntaxNode) => titles.has(titleIn(node) ?? '\0');
  if (olds.length === 0 && news.every(isTest)) return 'new';
  if (!was || !is || (news.length === 0 && olds.every(isMoved))) return 'different';
  const count = (nodes: Nodes, how: (node: SyntaxNode) => number) =>
    nodes.reduce((sum, node) => sum + how(node), 0);
  const checks = (node: SyntaxNode) => {
    const callee = nodeIn(node, 'callee');
    if (node.type !== 'CallExpression' || !callee) return 0;
    const isMatcher = /^to[A-Z]/.test(propertyOf(callee) ?? '');
    return (
      (titleOf(node) === null ? 0 : 1) + (isMatcher ? 1 + Math.min(1, nodesIn(node, 'arguments').length) : 0)
    );
  };
  const loose = (node: SyntaxNode) =>
    Number(loosening.test(propertyOf(node) ?? '') || branching.test(node.type));
  return count(is, checks) < count(was, checks) || count(is, loose) > count(was, loose)
    ? 'weaker'
    : 'different';
}

const codeOf = (node: SyntaxNode, source: SourceFile | null) =>
  (source?.text ?? '').slice(node.start, node.end).replaceAll(/\s*\n\s*/g, '');

function linesOf(nodes: Nodes, source: SourceFile | null): string[] {
  return nodes.flatMap(({ start, end }) => {
    const [first, last] = [start, Math.max(start, end - 1)].map((offset) => source?.lineAt(offset) ?? 1);
    return source?.lines.slice((first ?? 1) - 1, last).map((line) => line.trim()) ?? [];
  });
}
