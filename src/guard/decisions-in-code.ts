import { print } from '../code/locators.js';
import type { SourceFile } from '../code/source-file.js';
import {
  calleeOf,
  childrenOf,
  constantOf,
  identifierName,
  isFunction,
  lastName,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
  unwrap,
} from '../code/syntax.js';
import { type Decision, isRefusal, plainName, type Weight } from './decision.js';
import { decisionsInText, sqlFile } from './decisions-in-text.js';
import { lengthValue, type Value } from './test-values.js';

/** The text of all refusals. */
const refusal = 'refusal';

/** What a call, a middleware or a rule of a schema is named that lets something in, or not. */
const guarding =
  /^(?:is|has|can|may|must|needs?|should|check|valid|verif|requir|assert|ensure|authori[sz]|authenticat|guard|protect|forbid|deny|reject|limit|throttle|sanitiz|escape)|(?:auth|csrf|permission|validator|limiter|limit|guard)$|^(?:invariant|min|max|email|url|uuid|regex|refine|nonempty|positive|int|matches|safeParse|test)$/;
/** An attribute of an input, or a setting of a field. */
const restricting = /^(?:required|disabled|min|max|minLength|maxLength|pattern|readOnly|validate|unique)$/i;
const matching =
  /^(?:includes|has|get|startsWith|endsWith|indexOf|lastIndexOf|localeCompare|equals|match|matchAll|test|search|exec|replace|replaceAll)$/;
const membership = /^(?:includes|has|get|indexOf|lastIndexOf|find|findIndex|some|filter)$/;
/** Calls that are given a condition. */
const selecting = /^(?:filter|some|every|find|findIndex|findLast)$/;
/** Calls that take the status of an answer. */
const answering = /status|writeHead|code|error|abort|json|Response/i;

interface Details {
  readonly weight?: Weight | null;
  readonly stops?: boolean;
  readonly compared?: readonly (SyntaxNode | null | undefined)[];
  readonly chosen?: readonly (SyntaxNode | null | undefined)[];
  /** Whether a length is compared. */
  readonly isLength?: boolean;
  /** Whether it says how often a loop runs. */
  readonly isLoop?: boolean;
  /** The node whose names it is about, if not the condition itself. */
  readonly about?: SyntaxNode;
}

/** Returns all that decides in a program, and in the SQL that it holds. What constants with these names have is not counted as compared or chosen. */
export function decisionsInCode(source: SourceFile, known: ReadonlySet<string> = new Set()): Decision[] {
  const decisions: Decision[] = [];
  const counted = new Set<SyntaxNode>();
  const constants = constantsOf(source.program);
  const resolve = (node: SyntaxNode) => constants.get(identifierName(unwrap(node)) ?? '') ?? unwrap(node);
  const constantsIn = (nodes: Details['compared'], isCompared: boolean) =>
    (nodes ?? []).flatMap((node) =>
      node && !known.has(identifierName(unwrap(node)) ?? '') ? valuesIn(resolve(node), isCompared) : [],
    );

  const decide = (node: SyntaxNode, text: string, details: Details = {}) => {
    const { weight = 2, stops = true, compared, chosen, isLength = false, isLoop = false } = details;
    const numbers = isLoop
      ? []
      : [compared, chosen].flatMap((nodes) =>
          (nodes ?? []).map((value) => value && constantOf(resolve(value))),
        );
    const line = source.lineAt(node.start);
    decisions.push({
      text: `${text} ${weight}`,
      weight,
      stops,
      // One refusal may replace any other.
      names: new Set(
        text === refusal
          ? []
          : nodesOf(details.about ?? node)
              .flatMap((part) => identifierName(part) ?? [])
              .map(plainName),
      ),
      compared: constantsIn(compared, true).map((value) => (isLength ? lengthValue(value) : value)),
      chosen: constantsIn(chosen, false),
      numbers: numbers.filter((value) => typeof value === 'number'),
      file: source.path,
      line,
      source: source.lines[line - 1]?.trim() ?? '',
    });
  };

  /** Counts what `&&`, `||` and `!` combine, each by itself. */
  const condition = (wrapped: SyntaxNode, details: Details = {}, isNegated = false): void => {
    const node = unwrap(wrapped);
    counted.add(node);
    if (node.type === 'LogicalExpression' && node['operator'] !== '??') {
      for (const side of [nodeIn(node, 'left'), nodeIn(node, 'right')])
        if (side) condition(side, details, isNegated);
      return;
    }
    const negated =
      node.type === 'UnaryExpression' && node['operator'] === '!' ? nodeIn(node, 'argument') : null;
    if (negated) return condition(negated, details, !isNegated);
    const operator = operators[String(node['operator'])];
    const isComparison = node.type === 'BinaryExpression' && operator !== undefined;
    const sides = isComparison ? [nodeIn(node, 'left'), nodeIn(node, 'right')] : [];
    // A guard clause says the opposite of a condition around what it guards.
    const isOpposite = (isNegated !== (operator?.isNegated ?? false)) !== (details.stops === false);
    const text = isComparison
      ? `${operator.sign} ${sides.map((side) => side && print(side)).join(' ')}`
      : print(node);
    const isStatus = sides.some((side) => /status|code/i.test(lastName(side)));
    const compared = isStatus ? [] : sides.filter((side) => side && isConstant(resolve(side)));
    decide(node, `${isOpposite ? 'not ' : ''}${text}`, {
      ...details,
      weight: weightOf(
        node,
        sides.map((side) => side && resolve(side)),
      ),
      compared,
      isLength: operator?.sign === '=' && sides.some(isLengthOf),
    });
  };

  const read = (wrapped: SyntaxNode): void => {
    const node = unwrap(wrapped);
    if (/^TS(?!Enum)/.test(node.type)) return;
    readOwn(node);
    for (const child of reachable(node)) read(child);
  };

  const readOwn = (node: SyntaxNode): void => {
    const at = (field: string) => nodeIn(node, field);
    const choose = (details: Details, text = print(node)) =>
      decide(node, `choice ${text}`, { weight: null, ...details });
    const test = at('test');
    switch (node.type) {
      case 'IfStatement': {
        const branches = [at('consequent'), at('alternate')];
        const chosen = branches.flatMap((branch) => nodesOf(branch)).flatMap((part) => resultOf(part) ?? []);
        if (test) condition(test, { stops: branches.some((branch) => branch && isEnd(branch)), chosen });
        return;
      }
      case 'ForStatement':
        if (test) condition(test, { isLoop: true });
        return;
      case 'ConditionalExpression':
        if (test) condition(test, { chosen: [at('consequent'), at('alternate')] });
        return;
      case 'LogicalExpression':
        if (node['operator'] === '??') choose({ chosen: [at('right')] });
        else if (!counted.has(node)) condition(node, { chosen: [at('right')] });
        return;
      case 'BinaryExpression':
        if (operators[String(node['operator'])] && !counted.has(node)) condition(node);
        return;
      case 'SwitchStatement': {
        const tests = nodesIn(node, 'cases').flatMap((branch) => nodeIn(branch, 'test') ?? []);
        const chosen = nodesOf(node).flatMap((part) => resultOf(part) ?? []);
        choose({ compared: tests, chosen }, `by ${print(at('discriminant') ?? node)}`);
        for (const value of tests) decide(value, `case ${print(value)}`);
        return;
      }
      case 'ThrowStatement':
        return decide(node, refusal);
      case 'AssignmentPattern':
        return choose({ chosen: [at('right')] });
      case 'Property':
      case 'JSXAttribute':
        return readSetting(node);
      case 'CallExpression':
      case 'NewExpression':
        return readCall(node);
      case 'ArrayExpression': {
        const elements = nodesIn(node, 'elements');
        const isList = elements.length > 1 && elements.every((element) => constantOf(element) !== undefined);
        if (isList) choose({ compared: [node] });
        return;
      }
      case 'MemberExpression': {
        const table = node['computed'] === true ? at('object') : null;
        if (table && resolve(table).type === 'ObjectExpression')
          choose({ compared: [table], chosen: [table] });
        return;
      }
      case 'Literal':
      case 'TemplateLiteral': {
        const text = source.text.slice(node.start + 1, node.end - 1);
        const position = { file: source.path, kind: sqlFile, line: source.lineAt(node.start) };
        if (/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s/i.test(text))
          decisions.push(...decisionsInText(text, position));
      }
    }
  };

  const readSetting = (node: SyntaxNode): void => {
    const key = identifierName(nodeIn(node, 'key') ?? nodeIn(node, 'name')) ?? '';
    const written = nodeIn(node, 'value');
    const value = written?.type === 'JSXExpressionContainer' ? nodeIn(written, 'expression') : written;
    if (/^status(?:Code)?$/.test(key) && isRefusal(value && constantOf(value))) decide(node, refusal);
    if (restricting.test(key) && (!value || constantOf(value) !== false)) decide(node, `rule ${key}`);
  };

  const readCall = (node: SyntaxNode): void => {
    const callee = nodeIn(node, 'callee');
    const name = lastName(callee);
    const object = nodeIn(callee, 'object');
    const args = nodesIn(node, 'arguments');
    const isList = membership.test(name) && object && /^(?:Array|New)/.test(resolve(object).type);
    const isPattern = /^(?:test|exec)$/.test(name) && object && resolve(object)['regex'];
    if (isList || isPattern || matching.test(name))
      decide(node, `choice ${print(node)}`, {
        weight: null,
        compared: [
          isList || isPattern ? object : null,
          matching.test(name) && args[0] && isConstant(resolve(args[0])) ? args[0] : null,
        ],
      });
    const predicate = selecting.test(name) && args[0] ? nodeIn(args[0], 'body') : null;
    if (predicate && predicate.type !== 'BlockStatement' && !counted.has(unwrap(predicate)))
      condition(predicate, { about: node });
    if (identifierName(object) === 'Math')
      decide(node, `choice ${print(node)}`, { weight: null, chosen: args });
    if (guarding.test(name) && !counted.has(node) && !/^(?:Array|Math)$/.test(identifierName(object) ?? ''))
      condition(node);
    const handler = args.findLastIndex(isFunction);
    for (const [index, arg] of args.entries()) {
      const passed = identifierName(arg.type === 'Identifier' ? arg : nodeIn(arg, 'callee'));
      // What stands between a route and its handler lets requests in, or not.
      const isBetween = index > 0 && index < handler && constantOf(args[0] ?? arg) !== undefined;
      if (isBetween || (arg.type === 'Identifier' && guarding.test(passed ?? '')))
        decide(arg, `guard ${print(arg)}`);
      if (answering.test(name) && isRefusal(constantOf(arg))) decide(arg, refusal);
    }
  };

  read(source.program);
  return decisions;
}

const operators: Readonly<Record<string, { readonly sign: string; readonly isNegated: boolean }>> = {
  '===': { sign: '=', isNegated: false },
  '==': { sign: '=', isNegated: false },
  '!==': { sign: '=', isNegated: true },
  '!=': { sign: '=', isNegated: true },
  '<': { sign: '<', isNegated: false },
  '>=': { sign: '<', isNegated: true },
  '>': { sign: '>', isNegated: false },
  '<=': { sign: '>', isNegated: true },
  in: { sign: 'in', isNegated: false },
  instanceof: { sign: 'instanceof', isNegated: false },
};

/** How much a condition looks at, given both sides of a comparison; none if it compares nothing. */
function weightOf(node: SyntaxNode, sides: readonly (SyntaxNode | null)[]): Weight {
  if (constantOf(node) !== undefined) return 0;
  if (sides.length === 2) {
    const [left, right] = sides.map((side) => side && print(side));
    const values = sides.map((side) => side && constantOf(side));
    if (left === right || values.every((value) => value !== undefined)) return 0;
    if (sides.some((side) => identifierName(side) === 'Infinity')) return 0;
    const isNothing = sides.some(
      (side, at) =>
        identifierName(side) === 'undefined' ||
        values[at] === null ||
        values[at] === '' ||
        values[at] === 'undefined',
    );
    return isNothing || (sides.some(isLengthOf) && values.some((value) => value === 0)) ? 1 : 2;
  }
  if (node.type !== 'CallExpression') return 1;
  const callee = calleeOf(node);
  const { pattern } = (nodeIn(callee, 'object')?.['regex'] ?? {}) as { readonly pattern?: string };
  if (pattern !== undefined)
    return /^\^?(?:\.|\\S|\[\\s\\S\])?[*+]?\$?$/.test(pattern) ? (/\*|^\^?\$?$/.test(pattern) ? 0 : 1) : 2;
  return /^(?:trim|toString|String|Boolean)$/.test(lastName(callee)) ? 1 : 2;
}

const isLengthOf = (node: SyntaxNode | null) => /^(?:length|size)$/.test(propertyOf(node) ?? '');
const isConstant = (node: SyntaxNode) =>
  constantOf(node) !== undefined || /^(?:Array|Object|New)/.test(node.type) || node['regex'] !== undefined;

/** Returns what a statement gives as its result. */
function resultOf(node: SyntaxNode): SyntaxNode | null {
  if (node.type === 'ReturnStatement') return nodeIn(node, 'argument');
  return node.type === 'AssignmentExpression' ? nodeIn(node, 'right') : null;
}

/** Whether a branch ends what it is in, refuses it, or changes something. */
function isEnd(branch: SyntaxNode): boolean {
  return nodesOf(branch).some((node) => {
    if (/^(?:Return|Throw|Break|Continue)Statement$|^(?:Assignment|Update)Expression$/.test(node.type))
      return true;
    const callee = calleeOf(node);
    if (!callee) return false;
    return (
      /^(?:next|reject|exit|redirect|abort|preventDefault)$/.test(lastName(callee)) ||
      nodesIn(node, 'arguments').some((arg) => isRefusal(constantOf(arg)))
    );
  });
}

/** Returns the values of the constants of a program by their names. */
function constantsOf(program: SyntaxNode): Map<string, SyntaxNode> {
  const declarations = nodesOf(program).filter(({ kind }) => kind === 'const');
  const inits = declarations.flatMap((declaration) =>
    nodesIn(declaration, 'declarations').flatMap((node) => {
      const [name, init] = [identifierName(nodeIn(node, 'id')), nodeIn(node, 'init')];
      const value = init && unwrap(init);
      const isKnown = value && (isConstant(value) || identifierName(value) === 'Infinity');
      return isKnown && name !== null ? [[name, value] as const] : [];
    }),
  );
  return new Map(inits);
}

/** Returns the children of a node, without the statements after the end of a block. */
function reachable(node: SyntaxNode): SyntaxNode[] {
  const statements = node.type === 'BlockStatement' ? nodesIn(node, 'body') : [];
  const end = statements.findIndex(({ type }) => /^(?:Return|Throw)Statement$/.test(type));
  if (end === -1) return childrenOf(node);
  return statements.filter(({ type }, at) => at <= end || type === 'FunctionDeclaration');
}

/** Returns the constants in an expression, with the words of patterns and, if they are compared, the keys of objects; not the texts of elements, and no status. */
function valuesIn(wrapped: SyntaxNode, isCompared: boolean): Value[] {
  const node = unwrap(wrapped);
  if (node.type.startsWith('JSX') || isFunction(node)) return [];
  const value = constantOf(node);
  if (typeof value === 'string' || typeof value === 'number') return [value];
  const { pattern } = (node['regex'] ?? {}) as { readonly pattern?: string };
  if (pattern !== undefined) return pattern.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const key = node.type === 'Property' ? identifierName(nodeIn(node, 'key')) : null;
  const own = key !== null && isCompared ? [key] : [];
  if (/^(?:status|statusCode|code)$/.test(key ?? propertyOf(calleeOf(node)) ?? '')) return own;
  const inner = node.type === 'TemplateLiteral' || own.length > 0 ? [] : childrenOf(node);
  return [
    ...own,
    ...inner.filter((child) => child !== nodeIn(node, 'key')).flatMap((child) => valuesIn(child, isCompared)),
  ];
}
