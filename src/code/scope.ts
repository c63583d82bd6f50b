import {
  bodyOf,
  childrenOf,
  memberNode,
  nameOf,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
  visit,
} from './syntax.js';
import type { SourceFile } from './source-file.js';

/** A node and the scope in which it is resolved. */
export interface Located {
  readonly node: SyntaxNode;
  readonly scope: Scope;
}

/** A name with a known value, such as a constant, a function or a class; `node` is resolved in `scope`. */
interface Value extends Located {
  readonly kind: 'value';
}

/** What a name stands for. */
type Binding =
  | Value
  | { readonly kind: 'import'; readonly source: string; readonly name: string }
  /** A parameter or a reassigned variable. Its value is unknown, so its label stands for it; a parameter's label does not depend on its name. */
  | { readonly kind: 'opaque'; readonly label: string };

/** A class: its members by name, and the scope in which they are resolved. */
export interface ClassInfo {
  readonly members: ReadonlyMap<string, SyntaxNode>;
  readonly getters: ReadonlySet<SyntaxNode>;
  readonly scope: Scope;
}

export interface Scope {
  readonly parent: Scope | null;
  readonly names: Map<string, Binding>;
  readonly file: SourceFile;
  readonly project: Project;
  readonly self: ClassInfo | null;
}

/** The test files of one state of the tree. */
export interface Project {
  /** The scope of each file, by its path. */
  readonly files: ReadonlyMap<string, Scope>;
  /** Resolves an import in one file to the path of another, or null. */
  readonly importedFile: (from: string, source: string) => string | null;
  /** Classes by the names of their non-private members. */
  readonly classes: ReadonlyMap<string, readonly ClassInfo[]>;
  /** Values that names have been resolved to so far. */
  readonly followed: Set<SyntaxNode>;
}

export function innerScope(parent: Scope): Scope {
  return { ...parent, parent, names: new Map() };
}

/** Creates the scope of a file, with its imports and top-level declarations. */
export function fileScope(file: SourceFile, project: Project): Scope {
  const scope: Scope = { parent: null, names: new Map(), file, project, self: null };
  const body = nodesIn(file.program, 'body');
  for (const node of body.filter((one) => one.type === 'ImportDeclaration')) declareImports(node, scope);
  declareAll(body, scope);
  return scope;
}

export function lookUp(name: string, scope: Scope | null): Binding | null {
  for (let at = scope; at; at = at.parent) {
    const found = at.names.get(name);
    if (found) return found;
  }
  return null;
}

function declareImports(node: SyntaxNode, scope: Scope): void {
  const source = nameOf(nodeIn(node, 'source')) ?? '';
  for (const specifier of nodesIn(node, 'specifiers')) {
    const local = nameOf(nodeIn(specifier, 'local'));
    const imported = nameOf(nodeIn(specifier, 'imported'));
    const whole = specifier.type === 'ImportNamespaceSpecifier' ? '*' : 'default';
    if (local) scope.names.set(local, { kind: 'import', source, name: imported ?? whole });
  }
}

/** Adds the declarations of a block's statements to `scope`. */
export function declareAll(statements: readonly SyntaxNode[], scope: Scope): void {
  for (const statement of statements) {
    const node = nodeIn(statement, 'declaration') ?? statement;
    if (node.type === 'VariableDeclaration') declareVariables(node, scope);
    const name = nameOf(nodeIn(node, 'id'));
    if (name && /^(?:Function|Class|TSEnum)Declaration$/.test(node.type)) {
      scope.names.set(name, { kind: 'value', node, scope });
    }
  }
}

function declareVariables(declaration: SyntaxNode, scope: Scope): void {
  for (const one of nodesIn(declaration, 'declarations')) {
    const [id, init] = [nodeIn(one, 'id'), nodeIn(one, 'init')];
    const name = nameOf(id);
    const isKnown = declaration['kind'] === 'const' || name === null || !isReassigned(name, scope.file);
    const label = name === null ? '‹part›' : `variable ${name}`;
    if (id) declarePattern(id, { scope, label, init: isKnown ? init : null });
  }
}

interface PatternContext {
  readonly scope: Scope;
  readonly label: string;
  /** The value that the pattern destructures, if known. */
  readonly init?: SyntaxNode | null;
  /** The scope of `init`, if it is not `scope`. */
  readonly from?: Scope;
}

/** Declares the names of a pattern. A property's key becomes its label, since `{ page }` says what the value is. */
export function declarePattern(pattern: SyntaxNode, context: PatternContext): void {
  const { scope, label, init = null, from = scope } = context;
  const part = (child: SyntaxNode | null, key: string | number) => {
    const inside = init && memberNode(init, key);
    if (child)
      declarePattern(child, {
        ...context,
        init: inside,
        label: typeof key === 'string' ? key : `${label}.${key}`,
      });
  };
  switch (pattern.type) {
    case 'Identifier':
      scope.names.set(
        String(pattern['name']),
        init ? { kind: 'value', node: init, scope: from } : { kind: 'opaque', label },
      );
      return;
    case 'ObjectPattern':
      for (const one of nodesIn(pattern, 'properties')) {
        if (one.type === 'RestElement') declareOpaque(one, context);
        else part(nodeIn(one, 'value'), nameOf(nodeIn(one, 'key')) ?? '‹computed›');
      }
      return;
    case 'ArrayPattern':
      (pattern['elements'] as readonly (SyntaxNode | null)[]).forEach((one, index) => part(one, index));
      return;
    case 'AssignmentPattern': {
      const [left, right] = [nodeIn(pattern, 'left'), nodeIn(pattern, 'right')];
      const { start, end } = pattern;
      // Not a name that code can declare: with the plain label, `ms` in `{ ms = 4 }` would resolve to itself.
      const given = init ?? { type: 'Identifier', name: `‹${label}›`, start, end };
      const either = { type: 'LogicalExpression', operator: '??', left: given, right, start, end };
      if (left) declarePattern(left, { ...context, init: either });
      return;
    }
    default:
      declareOpaque(pattern, context);
  }
}

function declareOpaque(pattern: SyntaxNode, { scope, label }: PatternContext): void {
  for (const name of namesIn(pattern)) scope.names.set(name, { kind: 'opaque', label: `rest of ${label}` });
}

/** Creates the scope of a callback. Parameters are labeled by position, destructured ones by key. */
export function parameterScope(node: SyntaxNode, scope: Scope, prefix = ''): Scope {
  const within = innerScope(scope);
  nodesIn(node, 'params').forEach((one, index) =>
    declarePattern(one, { scope: within, label: `‹${prefix}${index}›` }),
  );
  return within;
}

/** Creates the scope of a function called with `args`, which are resolved in the scope `from`; null if a spread hides which they are. */
export function callScope(
  made: Located,
  { args, from }: { readonly args: readonly SyntaxNode[]; readonly from: Scope },
): Scope | null {
  if (args.some(({ type }) => type === 'SpreadElement')) return null;
  const within = innerScope(made.scope);
  nodesIn(made.node, 'params').forEach((given, index) => {
    const param = nodeIn(given, 'parameter') ?? given;
    const [pattern, usual] = [nodeIn(param, 'left') ?? param, nodeIn(param, 'right')];
    const argument = args[index];
    if (pattern.type === 'RestElement') {
      const { start, end } = given;
      const rest = { type: 'ArrayExpression', elements: args.slice(index), start, end };
      declarePattern(nodeIn(pattern, 'argument') ?? pattern, {
        scope: within,
        label: '‹rest›',
        init: rest,
        from,
      });
    } else {
      const known = { label: 'undefined', init: argument ?? usual, from: argument ? from : made.scope };
      declarePattern(pattern, { scope: within, ...known });
    }
  });
  return within;
}

const reassigned = new WeakMap<SourceFile, Set<string>>();

/** Whether a name is reassigned anywhere in its file. Ignores scopes, so a variable of the same name elsewhere counts too. */
function isReassigned(name: string, file: SourceFile): boolean {
  const known = reassigned.get(file);
  if (known) return known.has(name);
  const targets = nodesOf(file.program)
    .filter(({ type }) => /^(?:Assignment|Update)Expression$/.test(type))
    .flatMap((node) => nodeIn(node, 'left') ?? nodeIn(node, 'argument') ?? []);
  const names = new Set(targets.flatMap(namesIn));
  reassigned.set(file, names);
  return names.has(name);
}

function namesIn(pattern: SyntaxNode): string[] {
  if (pattern.type === 'MemberExpression') return [];
  const name = nameOf(pattern);
  return name === null ? childrenOf(pattern).flatMap(namesIn) : [name];
}

/** Collects the members of a class: methods, fields, and what its constructor assigns to `this`. */
export function classInfo(node: SyntaxNode, scope: Scope): ClassInfo {
  const members = new Map<string, SyntaxNode>();
  const getters = new Set<SyntaxNode>();
  for (const one of bodyOf(node)) {
    const name = nameOf(nodeIn(one, 'key'));
    const value = nodeIn(one, 'value');
    if (name === 'constructor' && value) assignedTo(value, members);
    else if (name && value) {
      members.set(name, value);
      if (one['kind'] === 'get') getters.add(value);
    }
  }
  return { members, getters, scope };
}

function assignedTo(constructor: SyntaxNode, members: Map<string, SyntaxNode>): void {
  visit(constructor, (node) => {
    const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
    const name = propertyOf(left);
    const isOwn = node.type === 'AssignmentExpression' && nodeIn(left, 'object')?.type === 'ThisExpression';
    if (isOwn && name && right) members.set(name, right);
  });
}
