import { printCode } from '../code/print.js';
import { declareAll, innerScope, parameterScope, type Scope } from '../code/scope.js';
import {
  bare,
  isFunction,
  nodeIn,
  nodesIn,
  placeOf,
  propertyOf,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import { chainOf, isTestObject, originOf, rootName } from '../code/test-object.js';
import type { Rule } from '../rules.js';
import { eachOf, guarded, type Reading, stepAt, textOf } from './reading.js';
import { readFunction, readStatements } from './statements.js';
import type { Root, Step } from './step.js';

/** What is around a test where it is defined; `steps` are those of the module itself. */
export interface Around extends Reading {
  readonly titles: readonly string[];
  readonly before: readonly Hook[];
  readonly after: readonly Hook[];
  readonly roots: Root[];
}

/** A hook, or a statement that says something of all tests around it. */
interface Hook {
  readonly node: SyntaxNode;
  readonly scope: Scope;
  readonly guards: readonly string[];
}

/** Reads statements that define tests: each test with the hooks around it. */
export function readDefinitions(statements: readonly SyntaxNode[], around: Around): void {
  declareAll(statements, around.scope);
  const hooks = statements.flatMap((one) => hookOf(one, around));
  const pick = (kind: RegExp) => hooks.filter(({ name }) => kind.test(name));
  const before = [...around.before, ...pick(/^(?!after)/)];
  const inside = { ...around, before, after: [...pick(/^after/), ...around.after] };
  for (const statement of statements) {
    if (hooks.some((one) => one.statement === statement)) continue;
    if (!readDefinition(statement, inside)) readStatements([statement], inside);
  }
}

/** Reads what defines tests; false for any other statement. */
function readDefinition(node: SyntaxNode, around: Around): boolean {
  const branch = (child: SyntaxNode | null, guard: string) => readBranch(child, guarded(around, guard));
  switch (node.type) {
    case 'ExpressionStatement': {
      const call = bare(nodeIn(node, 'expression') ?? node);
      return call.type === 'CallExpression' && readDefinitionCall(call, around);
    }
    case 'ForOfStatement': {
      const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
      if (!definesTests(node, around) || !left || !right) return false;
      const declared = left.type === 'VariableDeclaration' ? nodesIn(left, 'declarations')[0] : left;
      const pattern = declared ? (nodeIn(declared, 'id') ?? declared) : null;
      for (const each of eachOf(right, pattern, around)) readBranch(nodeIn(node, 'body'), each);
      return true;
    }
    case 'IfStatement': {
      if (!definesTests(node, around)) return false;
      const text = textOf(nodeIn(node, 'test'), around);
      branch(nodeIn(node, 'consequent'), `if ${text}`);
      branch(nodeIn(node, 'alternate'), `if not ${text}`);
      return true;
    }
    case 'BlockStatement':
      readBranch(node, around);
      return true;
    default:
      if (!/^(?:For|While|DoWhile|Try|Labeled|Switch)/.test(node.type) || !definesTests(node, around))
        return false;
      visit(node, (one) => {
        if (one.type === 'BlockStatement') branch(one, `in ${textOf(node, around).slice(0, 200)}`);
      });
      return true;
  }
}

function definesTests(node: SyntaxNode, { scope, sources }: Around): boolean {
  let found = false;
  visit(node, (one) => {
    const root = one.type === 'CallExpression' ? rootName(one) : null;
    if (root && isTestObject(root, scope, sources)) found = true;
  });
  return found;
}

function readBranch(node: SyntaxNode | null, around: Around): void {
  if (!node) return;
  const statements = node.type === 'BlockStatement' ? nodesIn(node, 'body') : [node];
  readDefinitions(statements, { ...around, scope: innerScope(around.scope) });
}

function readDefinitionCall(call: SyntaxNode, around: Around): boolean {
  const callee = nodeIn(call, 'callee');
  const args = nodesIn(call, 'arguments');
  const [first] = args;
  if (callee && propertyOf(callee) === 'forEach' && first && definesTests(first, around)) {
    const list = nodeIn(callee, 'object');
    const [pattern = null] = nodesIn(first, 'params');
    for (const each of list ? eachOf(list, pattern, around) : []) readBranch(nodeIn(first, 'body'), each);
    return true;
  }
  const root = callee && rootName(callee);
  const made = args.map((one) => bare(around.sources.resolve(one, around.scope).node)).findLast(isFunction);
  if (!callee || !root || !made || !first || !isTestObject(root, around.scope, around.sources)) return false;
  const chain = [String(root['name']), ...chainOf(callee)];
  if (chain.some((name) => /^(?:step|use|extend|configure)$/.test(name))) return false;
  const title = isFunction(bare(first)) ? '""' : printCode(first, around.scope, around).text;
  const inside = { ...around, before: [...around.before, ...modifiers(call, { chain, args }, around)] };
  if (!chain.includes('describe')) readTest(call, { made, title, root }, inside);
  else {
    const body = nodeIn(made, 'body');
    const scope = parameterScope(made, around.scope);
    readDefinitions(body ? nodesIn(body, 'body') : [], {
      ...inside,
      scope,
      titles: [...around.titles, title],
    });
  }
  return true;
}

/** What the words of `test.describe.skip(…, { tag })` keep from running. */
function modifiers(
  call: SyntaxNode,
  { chain, args }: { chain: readonly string[]; args: readonly SyntaxNode[] },
  { scope, guards, sources }: Around,
): (Hook & { step: Step })[] {
  const [, details] = args;
  const words = chain.slice(1).filter((one) => one !== 'describe');
  const options = args.length > 2 && details ? [printCode(details, scope, { sources }).text] : [];
  return [...words, ...options].map((data) => {
    const rule: Rule = /^(?:skip|fixme|fail|only|slow)$/.test(data) ? 'test-modifier' : 'run-option';
    return {
      node: call,
      scope,
      guards,
      step: stepAt(call, { scope }, { kind: 'restriction', rule, verb: 'test', data }),
    };
  });
}

function readTest(
  call: SyntaxNode,
  { made, title, root }: { made: SyntaxNode; title: string; root: SyntaxNode },
  around: Around,
): void {
  const steps: Step[] = [];
  const { sources, scope, guards } = around;
  const origin = originOf(root, { scope, sources, left: 10 });
  // A test of somebody else's making: its text counts.
  if (origin !== 'playwright')
    steps.push(stepAt(call, { scope }, { rule: 'expect-replaced', verb: 'test from', data: origin }));
  const read = (hook: Hook & { readonly step?: Step }) => {
    const reading = { ...around, steps, awaited: true, guards: hook.guards, scope: hook.scope };
    if (hook.step) steps.push(hook.step);
    else if (isFunction(hook.node))
      readFunction(hook.node, { ...reading, scope: parameterScope(hook.node, hook.scope) });
    else readStatements([hook.node], { ...reading, scope: innerScope(hook.scope) });
  };
  for (const hook of around.before) read(hook);
  read({ node: made, scope, guards });
  for (const hook of around.after) read(hook);
  const key = [...around.titles, title].join(' › ');
  const shown = [...around.titles.slice(1), title].map((one) => one.replaceAll(/^"|"$/g, '')).join(' › ');
  around.roots.push({ kind: 'test', key, title: shown, steps, ...placeOf(scope.file, call) });
}

/** `test.beforeEach(…)`, and what is said of all tests around: `test.use(…)`, `test.skip(…)`, `test.describe.configure(…)`. */
function hookOf(statement: SyntaxNode, around: Around): (Hook & { name: string; statement: SyntaxNode })[] {
  const call =
    statement.type === 'ExpressionStatement' ? bare(nodeIn(statement, 'expression') ?? statement) : statement;
  const callee = call.type === 'CallExpression' ? nodeIn(call, 'callee') : null;
  const name = callee && propertyOf(callee);
  const root = callee && rootName(callee);
  const { scope, guards, sources } = around;
  if (!name || !root || !isTestObject(root, scope, sources)) return [];
  const args = nodesIn(call, 'arguments');
  const last = args.at(-1);
  if (/^(?:before|after)(?:Each|All)$/.test(name)) {
    const found = last && sources.resolve(last, scope);
    return found && isFunction(found.node) ? [{ ...found, guards, name, statement }] : [];
  }
  const [first] = args;
  const isTitled =
    first !== undefined && /^(?:Literal|TemplateLiteral)$/.test(bare(first).type) && args.length > 1;
  const isSaid =
    /^(?:use|configure|skip|fixme|fail|slow|setTimeout)$/.test(name) &&
    !(isTitled && last && isFunction(bare(last)));
  return isSaid ? [{ node: statement, scope, guards, name, statement }] : [];
}
