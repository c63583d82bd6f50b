import type { Root, Step } from '../../core/guard/outline.js';
import { printCode } from './print-code.js';
import { boundScope, elementsOf, parameterScope } from './bound-scope.js';
import { placeAt } from './place-at.js';
import { readFunction, type Reading } from './read-steps.js';
import { innerScope, declareAll, type Scope } from './scope.js';
import { bare, isFunction, nameOf, nodeIn, nodesIn, propertyOf, type SyntaxNode, visit } from './syntax.js';
import { chainOf, isTestObject, rootName } from './test-object.js';
import type { TestSources } from './test-sources.js';

/** What is around a test where it is defined. */
interface Around {
  readonly sources: TestSources;
  readonly scope: Scope;
  readonly titles: readonly string[];
  readonly guards: readonly string[];
  readonly before: readonly Hook[];
  readonly after: readonly Hook[];
  readonly reached: Set<SyntaxNode>;
  readonly roots: Root[];
}

interface Hook {
  readonly node: SyntaxNode;
  readonly scope: Scope;
  readonly guards: readonly string[];
}

/** Reads every test, fixture and helper of the test files, with what each does. */
export function readRoots(sources: TestSources, affected: ReadonlySet<string>): Root[] {
  const read = [...sources.files.values()].filter(({ file }) => affected.has(file.path));
  const roots: Root[] = [];
  const reached = new Set<SyntaxNode>();
  for (const { file, scope } of read) {
    const around = { sources, scope, titles: [file.path], guards: [], before: [], after: [], reached, roots };
    readDefinitions(nodesIn(file.program, 'body'), around);
    readFixtures(file.program, around);
  }
  for (const { file, scope } of read) readRest(file.program, { sources, scope, reached, roots });
  return roots;
}

function readDefinitions(statements: readonly SyntaxNode[], around: Around): void {
  declareAll(statements, around.scope);
  const [before, after] = [hooksOf(statements, /^before/, around), hooksOf(statements, /^after/, around)];
  const inside = { ...around, before: [...around.before, ...before], after: [...after, ...around.after] };
  for (const statement of statements) readDefinition(statement, inside);
}

function readDefinition(node: SyntaxNode, around: Around): void {
  if (node.type === 'ExpressionStatement') {
    const call = bare(nodeIn(node, 'expression') ?? node);
    if (call.type === 'CallExpression') readDefinitionCall(call, around);
  } else if (node.type === 'ForOfStatement') readDefinitionLoop(node, around);
  else if (node.type === 'IfStatement') {
    const test = nodeIn(node, 'test');
    const text = test ? printCode(test, around.scope, around.sources).text : '';
    readBranch(nodeIn(node, 'consequent'), { ...around, guards: [...around.guards, `if ${text}`] });
    readBranch(nodeIn(node, 'alternate'), { ...around, guards: [...around.guards, `if not ${text}`] });
  } else if (node.type === 'BlockStatement') readBranch(node, around);
  else if (/^(?:For|While|DoWhile)/.test(node.type)) {
    readBranch(nodeIn(node, 'body'), { ...around, guards: [...around.guards, 'in a loop'] });
  }
}

function readBranch(node: SyntaxNode | null, around: Around): void {
  if (!node) return;
  const statements = node.type === 'BlockStatement' ? nodesIn(node, 'body') : [node];
  readDefinitions(statements, { ...around, scope: innerScope(around.scope) });
}

function readDefinitionLoop(node: SyntaxNode, around: Around): void {
  const [left, right, body] = [nodeIn(node, 'left'), nodeIn(node, 'right'), nodeIn(node, 'body')];
  const elements = right && elementsOf(right, around);
  if (!elements || !left) return readBranch(body, around);
  const pattern =
    left.type === 'VariableDeclaration' ? nodeIn(nodesIn(left, 'declarations')[0] ?? left, 'id') : left;
  for (const { node: value, scope } of elements) {
    readBranch(body, { ...around, scope: boundScope(around.scope, { pattern, value, scope }) });
  }
}

function readDefinitionCall(call: SyntaxNode, around: Around): void {
  const callee = nodeIn(call, 'callee');
  const args = nodesIn(call, 'arguments');
  if (callee && propertyOf(callee) === 'forEach') return readForEach(callee, args[0], around);
  const root = callee && rootName(callee);
  const made = args.map(bare).findLast(isFunction);
  if (!callee || !root || !made || !isTestObject(root, around.scope, around.sources)) return;
  const chain = [String(root['name']), ...chainOf(callee)];
  if (chain.some((name) => /^(?:before|after)(?:Each|All)$|^(?:step|use|extend|configure)$/.test(name)))
    return;
  const title =
    args[0] && !isFunction(bare(args[0])) ? printCode(args[0], around.scope, around.sources).text : '""';
  if (chain.includes('describe')) {
    const scope = parameterScope(made, around.scope);
    const body = nodeIn(made, 'body');
    if (body) readDefinitions(nodesIn(body, 'body'), { ...around, scope, titles: [...around.titles, title] });
  } else if (args.length > 1) readTest(call, { made, title }, around);
}

function readForEach(callee: SyntaxNode, made: SyntaxNode | undefined, around: Around): void {
  const list = nodeIn(callee, 'object');
  const body = made && isFunction(made) ? nodeIn(made, 'body') : null;
  const elements = list && elementsOf(list, around);
  if (!made || !body) return;
  if (!elements) return readBranch(body, { ...around, scope: parameterScope(made, around.scope) });
  const [pattern = null] = nodesIn(made, 'params');
  for (const { node: value, scope } of elements) {
    readBranch(body, { ...around, scope: boundScope(around.scope, { pattern, value, scope }) });
  }
}

function readTest(
  call: SyntaxNode,
  { made, title }: { made: SyntaxNode; title: string },
  around: Around,
): void {
  const steps: Step[] = [];
  const { sources, scope, guards, reached } = around;
  const base: Reading = { sources, scope, guards, awaited: true, within: [], steps, reached };
  const read = (hook: Hook) =>
    readFunction(hook.node, {
      ...base,
      guards: [...hook.guards],
      scope: parameterScope(hook.node, hook.scope),
    });
  around.before.forEach(read);
  read({ node: made, scope, guards });
  around.after.forEach(read);
  const key = [...around.titles, title].join(' › ');
  const place = placeAt(scope.file, scope.file.lineAt(call.start));
  around.roots.push({ kind: 'test', key, title: shown(around.titles, title), steps, ...place });
}

function shown(titles: readonly string[], title: string): string {
  return [...titles.slice(1), title].map((one) => one.replaceAll(/^"|"$/g, '')).join(' › ');
}

function hooksOf(statements: readonly SyntaxNode[], kind: RegExp, around: Around): Hook[] {
  return statements.flatMap((statement) => {
    const call =
      statement.type === 'ExpressionStatement'
        ? bare(nodeIn(statement, 'expression') ?? statement)
        : statement;
    const callee = call.type === 'CallExpression' ? nodeIn(call, 'callee') : null;
    const name = callee && propertyOf(callee);
    const root = callee && rootName(callee);
    if (!name || !/(?:Each|All)$/.test(name) || !kind.test(name) || !root) return [];
    if (!isTestObject(root, around.scope, around.sources)) return [];
    const [made] = nodesIn(call, 'arguments').slice(-1);
    const found = made && around.sources.resolve(made, around.scope);
    return found && isFunction(found.node) ? [{ ...found, guards: around.guards }] : [];
  });
}

/** `test.extend({ cart: async ({ page }, use) => … })`: each fixture does something of its own. */
function readFixtures(program: SyntaxNode, around: Around): void {
  visit(program, (node) => {
    const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
    if (!callee || propertyOf(callee) !== 'extend') return;
    const [first] = nodesIn(node, 'arguments');
    const object = first && around.sources.resolve(first, around.scope).node;
    for (const property of object ? nodesIn(object, 'properties') : []) {
      const name = nameOf(nodeIn(property, 'key'));
      const value = nodeIn(property, 'value');
      const made = value?.type === 'ArrayExpression' ? (nodesIn(value, 'elements')[0] ?? null) : value;
      if (name && made && isFunction(made)) addRoot(made, { kind: 'fixture', name }, around);
    }
  });
}

type Rest = Pick<Around, 'sources' | 'scope' | 'reached' | 'roots'>;

function addRoot(made: SyntaxNode, { kind, name }: { kind: Root['kind']; name: string }, around: Rest): void {
  const steps: Step[] = [];
  const { sources, scope, reached } = around;
  const within = parameterScope(made, scope);
  readFunction(made, { sources, scope: within, guards: [], awaited: true, within: [], steps, reached });
  const place = placeAt(scope.file, scope.file.lineAt(made.start));
  around.roots.push({ kind, key: `${kind} ${name}`, title: name, steps, ...place });
}

/** Functions that no test was seen to call: called in a way that cannot be followed, or not at all. */
function readRest(program: SyntaxNode, rest: Rest): void {
  visit(program, (node) => {
    const named =
      node.type === 'FunctionDeclaration'
        ? { name: nameOf(nodeIn(node, 'id')) ?? 'default', made: node }
        : node.type === 'MethodDefinition'
          ? { name: nameOf(nodeIn(node, 'key')), made: nodeIn(node, 'value') }
          : node.type === 'VariableDeclarator' || node.type === 'ExportDefaultDeclaration'
            ? {
                name: nameOf(nodeIn(node, 'id')) ?? 'default',
                made: nodeIn(node, 'init') ?? nodeIn(node, 'declaration'),
              }
            : null;
    if (!named?.name || !named.made || !isFunction(named.made) || rest.reached.has(named.made)) return;
    addRoot(named.made, { kind: 'function', name: named.name }, rest);
  });
}
