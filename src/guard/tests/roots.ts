import { type LocatorText } from '../code/locator.js';
import { printCode } from '../code/print.js';
import { declareAll, innerScope, parameterScope, type Scope } from '../code/scope.js';
import { returnedValue } from '../code/returned-value.js';
import type { Located, Sources } from '../code/sources.js';
import {
  bare,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  placeOf,
  propertyOf,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import { chainOf, isTestObject, originOf, rootName } from '../code/test-object.js';
import type { Rule } from '../rules.js';
import type { ActionStep, Root, Step } from './step.js';
import { eachOf, type Reading } from './reading.js';
import { readers, readFunction, readStatements } from './statements.js';

/** What is around a test where it is defined; `steps` are those of the module itself. */
interface Around extends Reading {
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

/** Reads every test, fixture, helper and module of these files, with what each does. */
export function readRoots(sources: Sources, affected: ReadonlySet<string>): Root[] {
  const read = [...sources.files.values()].filter(({ file }) => affected.has(file.path));
  const roots: Root[] = [];
  const reached = new Set<SyntaxNode>();
  for (const { file, scope } of read) {
    const steps: Step[] = [];
    const base = { sources, scope, guards: [], awaited: false, within: [], steps, reached, readers };
    const around = { ...base, titles: [file.path], before: [], after: [], roots };
    readDefinitions(nodesIn(file.program, 'body'), around);
    readFixtures(file.program, around);
    const place = { file: file.path, line: 1, source: '' };
    roots.push({ kind: 'module', key: `module ${file.path}`, title: file.path, steps, ...place });
  }
  for (const { file, scope } of read) {
    const steps = roots.find(({ key }) => key === `module ${file.path}`)?.steps as Step[];
    readUnfollowed(file.program, {
      sources,
      scope,
      guards: [],
      awaited: true,
      within: [],
      steps,
      reached,
      readers,
    });
    readRest(file.program, {
      sources,
      scope,
      guards: [],
      awaited: true,
      within: [],
      steps: [],
      reached,
      readers,
      roots,
    });
  }
  return roots;
}

/** Values of a module that no test was seen to use: used in a way that cannot be followed, or not at all; their text counts. */
function readUnfollowed(program: SyntaxNode, { sources, scope, steps }: Reading): void {
  for (const statement of nodesIn(program, 'body')) {
    const declaration = nodeIn(statement, 'declaration') ?? statement;
    for (const one of declaration.type === 'VariableDeclaration'
      ? nodesIn(declaration, 'declarations')
      : []) {
      const [init, id] = [nodeIn(one, 'init'), nodeIn(one, 'id')];
      const name = nameOf(id);
      if (!init || !name || isFunction(bare(init)) || sources.followed.has(init)) continue;
      const data = `${name} = ${printCode(init, scope, { sources }).text}`;
      steps.push(plainStep(one, scope, { kind: 'check', rule: 'step-changed', verb: 'declares', data }));
    }
  }
}

function readDefinitions(statements: readonly SyntaxNode[], around: Around): void {
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
  const branch = (child: SyntaxNode | null, guard: string) =>
    readBranch(child, { ...around, guards: [...around.guards, guard] });
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
      const test = nodeIn(node, 'test');
      const text = test ? printCode(test, around.scope, around).text : '';
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
        if (one.type === 'BlockStatement')
          branch(one, `in ${printCode(node, around.scope, around).text.slice(0, 200)}`);
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
      step: plainStep(call, scope, { kind: 'restriction', rule, verb: 'test', data }),
    };
  });
}

type Told = Pick<ActionStep, 'kind' | 'rule' | 'verb' | 'data'> & {
  readonly locators?: readonly LocatorText[];
};

function plainStep(node: SyntaxNode, { file }: Scope, told: Told): ActionStep {
  return {
    locators: [],
    timeoutMs: null,
    forced: false,
    guards: [],
    awaited: true,
    ...placeOf(file, node),
    ...told,
  };
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
    steps.push(
      plainStep(call, scope, { kind: 'action', rule: 'expect-replaced', verb: 'test from', data: origin }),
    );
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

/** `test.extend({ cart: async ({ page }, use) => … })`: each fixture does something of its own. */
function readFixtures(program: SyntaxNode, around: Around): void {
  const { scope, sources, roots } = around;
  visit(program, (node) => {
    const callee = node.type === 'CallExpression' ? nodeIn(node, 'callee') : null;
    const object = callee && propertyOf(callee) === 'extend' ? nodeIn(callee, 'object') : null;
    if (!callee || !object) return;
    const isExpect = /expect/i.test(String(rootName(object)?.['name']));
    const [first] = nodesIn(node, 'arguments');
    const found = first && sources.resolve(first, scope);
    for (const property of found ? nodesIn(found.node, 'properties') : []) {
      const name = nameOf(nodeIn(property, 'key')) ?? '…';
      const value = nodeIn(property, 'value') ?? property;
      const [head = value, ...options] =
        value.type === 'ArrayExpression' ? nodesIn(value, 'elements') : [value];
      const rule = isExpect ? 'expect-replaced' : 'fixture-added';
      const data = [
        name,
        ...(isFunction(head) && !isExpect ? options : [value]).map(
          (one) => printCode(one, scope, { sources }).text,
        ),
      ];
      const steps: Step[] = [
        plainStep(property, scope, { kind: 'action', rule, verb: 'fixture', data: data.join(', ') }),
      ];
      const within = parameterScope(head, scope);
      if (isFunction(head)) readFunction(head, { ...around, steps, awaited: true, scope: within });
      roots.push({
        kind: 'fixture',
        key: `fixture ${name}`,
        title: name,
        steps,
        ...placeOf(scope.file, property),
      });
    }
  });
}

/** Functions that no test was seen to call: called in a way that cannot be followed, or not at all. */
function readRest(program: SyntaxNode, rest: Reading & Pick<Around, 'roots'>): void {
  visit(program, (node) => {
    const isDefault = node.type === 'VariableDeclarator' || node.type === 'ExportDefaultDeclaration';
    const named =
      node.type === 'FunctionDeclaration'
        ? { name: nameOf(nodeIn(node, 'id')) ?? 'default', made: node }
        : /^(?:Method|Property)Definition$/.test(node.type)
          ? { name: nameOf(nodeIn(node, 'key')), made: nodeIn(node, 'value') }
          : isDefault
            ? {
                name: nameOf(nodeIn(node, 'id')) ?? 'default',
                made: nodeIn(node, 'init') ?? nodeIn(node, 'declaration'),
              }
            : null;
    const { name, made } = named ?? {};
    if (!name || !made || !isFunction(made) || rest.reached.has(made)) return;
    const steps: Step[] = [];
    const scope = parameterScope(made, rest.scope);
    readFunction(made, { ...rest, steps, scope });
    const given = returnedValue({ node: made, scope });
    if (given) steps.push(returned(given, rest));
    else
      visit(made, (one) => {
        const value = one.type === 'ReturnStatement' ? nodeIn(one, 'argument') : null;
        if (value) steps.push(returned({ node: value, scope: rest.scope }, rest));
      });
    rest.roots.push({
      kind: 'function',
      key: `function ${name}`,
      title: name,
      steps,
      ...placeOf(rest.scope.file, made),
    });
  });
}

function returned({ node, scope }: Located, { sources }: Reading): ActionStep {
  const { text, locators } = printCode(node, scope, { sources });
  return plainStep(node, scope, {
    kind: 'action',
    rule: 'step-changed',
    verb: 'returns',
    data: text,
    locators,
  });
}
