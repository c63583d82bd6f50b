import { print } from '../code/locators.js';
import {
  childrenOf,
  constantOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';

/** Something that decides: a condition, a comparison, a guard that is called, a refusal. */
export interface Decision {
  readonly node: SyntaxNode;
  /** Equal for equal decisions. */
  readonly text: string;
  /** Whether it only stands in for another one, such as `?.`. */
  readonly isWeak: boolean;
}

/** A named function, or the rest of a program, without the named functions in it. */
export interface Scope {
  readonly decisions: readonly Decision[];
  /** What it returns, and what it gives to its variables, by their names; `null` for its return value. */
  readonly values: ReadonlyMap<string | null, readonly SyntaxNode[]>;
}

/** What a call, a middleware or a rule of a schema is named that lets something in, or not. */
const guarding =
  /^(?:is|has|can|may|must|should|check|validate|verify|require|assert|ensure|authori[sz]e|authenticate|guard|protect|forbid|deny|reject|limit|throttle|sanitize|escape)(?:[A-Z_]|$)|(?:auth|csrf|permission|validator|limiter|guard)$|^(?:invariant|csrf|rateLimit|min|max|email|url|uuid|regex|refine|superRefine|nonempty|nonnegative|positive|int|matches|required|safeParse|test)$/i;
const declaring =
  /^(?:required|disabled|min|max|minLength|maxLength|pattern|readOnly|validate|validator|unique)$/i;
const comparing = /^(?:[!=]==?|[<>]=?|in|instanceof)$/;

/** Returns the scopes of a program by name, the program itself as `''`. */
export function scopesIn(program: SyntaxNode): Map<string, Scope> {
  const found = new Map<string, Scope>();
  const open = (node: SyntaxNode, name: string): void => {
    const decisions: Decision[] = [];
    const values = new Map<string | null, SyntaxNode[]>();
    const decide = (one: SyntaxNode, text = print(one), isWeak = false) =>
      decisions.push({ node: one, text, isWeak });
    const give = (to: string | null, value: SyntaxNode | null) => {
      if (value) values.set(to, [...(values.get(to) ?? []), unwrap(value)]);
    };
    const read = (given: SyntaxNode): void => {
      const one = unwrap(given);
      if (/^TS(?!Enum)/.test(one.type)) return;
      const inner = namedFunction(one);
      if (inner) {
        own(one);
        if (inner.body !== one)
          for (const other of childrenOf(one)) if (unwrap(other) !== inner.body) read(other);
        let path = name === '' ? inner.name : `${name} › ${inner.name}`;
        while (found.has(path)) path += '’';
        return open(inner.body, path);
      }
      for (const test of testsOf(one))
        if (!isComparison(test) && !isCall(test) && constantOf(test) === undefined) decide(test);
      own(one);
      for (const child of reachable(one)) read(child);
    };
    const own = (one: SyntaxNode): void => {
      const { type } = one;
      const callee = nodeIn(one, 'callee');
      if (isComparison(one)) decide(one);
      if (type === 'SwitchCase' && nodeIn(one, 'test'))
        decide(one, `case ${print(nodeIn(one, 'test') ?? one)}`);
      if (type === 'ThrowStatement') decide(one, 'throw');
      if (one['optional'] === true || (type === 'LogicalExpression' && one['operator'] === '??'))
        decide(one, 'weak', true);
      if (isCall(one)) {
        const called = propertyOf(callee) ?? nameOf(callee) ?? '';
        // What stands between a route and its handler lets requests in, or not.
        if (namedFunction(one))
          for (const arg of nodesIn(one, 'arguments').slice(1)) if (!isFunction(arg)) decide(arg);
        const on = nameOf(nodeIn(callee, 'object')) ?? '';
        if (
          (guarding.test(called) && !/^(?:JSON|Array)$/.test(on)) ||
          (called === 'parse' && !/^(?:JSON|Date|Number|url|path|qs|querystring|yaml|csv|marked)$/i.test(on))
        )
          decide(one, `call ${called}`);
        for (const arg of nodesIn(one, 'arguments')) {
          const passed = nameOf(arg.type === 'Identifier' ? arg : nodeIn(arg, 'callee'));
          if (arg.type === 'Identifier' && passed && guarding.test(passed)) decide(arg, `call ${passed}`);
          if (refusals.test(called) && isRefusal(constantOf(arg))) decide(arg, 'refuse');
        }
      }
      if (type === 'Property' || type === 'JSXAttribute') {
        const named = nodeIn(one, 'key') ?? nodeIn(one, 'name');
        const key = nameOf(named) ?? (typeof named?.['name'] === 'string' ? named['name'] : '');
        const value = nodeIn(one, 'value');
        const held = value?.type === 'JSXExpressionContainer' ? nodeIn(value, 'expression') : value;
        if (/^status(?:Code)?$/.test(key) && held && isRefusal(constantOf(held))) decide(one, 'refuse');
        if (declaring.test(key) && (!held || constantOf(held) !== false)) decide(one, `rule ${key}`);
      }
      if (type === 'ReturnStatement') give(null, nodeIn(one, 'argument'));
      if (type === 'Property') give(`key ${nameOf(nodeIn(one, 'key'))}`, nodeIn(one, 'value'));
      if (type === 'VariableDeclarator') give(nameOf(nodeIn(one, 'id')), nodeIn(one, 'init'));
    };
    const body = isFunction(node) ? nodeIn(node, 'body') : node;
    if (isFunction(node) && body && body.type !== 'BlockStatement') give(null, body);
    for (const child of isFunction(node) ? childrenOf(node) : reachable(node)) read(child);
    found.set(name, { decisions, values });
  };
  open(program, '');
  return found;
}

/** Calls that take the status of an answer. */
const refusals = /status|writeHead|code|error|abort|json|Response/i;
const isRefusal = (status: unknown) => typeof status === 'number' && status >= 400 && status < 600;

const isCall = ({ type }: SyntaxNode) => type === 'CallExpression' || type === 'NewExpression';
const isComparison = ({ type, operator }: SyntaxNode) =>
  type === 'BinaryExpression' && comparing.test(String(operator));

/** Returns the conditions that a node has itself: what `&&`, `||` and `!` combine, each. */
export function testsOf(node: SyntaxNode): SyntaxNode[] {
  if (node.type === 'LogicalExpression' && node['operator'] !== '??')
    return [nodeIn(node, 'left'), nodeIn(node, 'right')].flatMap((one) => (one ? leaves(one) : []));
  const test = /^(?:If|Conditional)/.test(node.type) ? nodeIn(node, 'test') : null;
  return test ? leaves(test) : [];
}

/** What is combined further is read where it stands. */
function leaves(given: SyntaxNode): SyntaxNode[] {
  const node = unwrap(given);
  if (node.type === 'LogicalExpression') return [];
  const argument =
    node.type === 'UnaryExpression' && node['operator'] === '!' ? nodeIn(node, 'argument') : null;
  return argument ? leaves(argument) : [node];
}

/** Returns the children of a node, without the statements after the end of a block. */
function reachable(node: SyntaxNode): SyntaxNode[] {
  const statements = node.type === 'BlockStatement' ? nodesIn(node, 'body') : [];
  const end = statements.findIndex(({ type }) => /^(?:Return|Throw)Statement$/.test(type));
  if (end === -1) return childrenOf(node);
  return statements.filter(({ type }, at) => at <= end || type === 'FunctionDeclaration');
}

/** Returns the function that a node names: a declaration, a value, a method, or what is called with a text before it, such as a route. */
function namedFunction(node: SyntaxNode): { readonly name: string; readonly body: SyntaxNode } | null {
  if (node.type === 'FunctionDeclaration')
    return { name: nameOf(nodeIn(node, 'id')) ?? 'default', body: node };
  if (isCall(node)) {
    const args = nodesIn(node, 'arguments');
    const body = args.find(isFunction);
    const title = args[0] && constantOf(args[0]);
    const callee = nodeIn(node, 'callee');
    const method = propertyOf(callee) ?? nameOf(callee);
    return body && typeof title === 'string' ? { name: `${method} ${title}`, body } : null;
  }
  const value = nodeIn(node, 'value') ?? nodeIn(node, 'init');
  const body = value && unwrap(value);
  const name = nameOf(nodeIn(node, 'key') ?? nodeIn(node, 'id'));
  return body && isFunction(body) && name !== null ? { name, body } : null;
}
