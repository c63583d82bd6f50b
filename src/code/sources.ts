import {
  unwrap,
  bodyOf,
  calleeOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SyntaxNode,
} from './syntax.js';
import {
  classInfo,
  declareAll,
  innerScope,
  type ClassInfo,
  fileScope,
  type Located,
  lookUp,
  type Project,
  type Scope,
} from './scope.js';
import type { SourceFile } from './source-file.js';

const MAX_STEPS = 30;

/** Connects parsed files, so that names can be followed from one to another. */
export function openProject(parsed: readonly SourceFile[], importedFile: Project['importedFile']): Project {
  const files = new Map<string, Scope>();
  const classes = new Map<string, ClassInfo[]>();
  const project = { files, importedFile, classes, followed: new Set<SyntaxNode>() };
  for (const file of parsed) {
    const scope = fileScope(file, project);
    files.set(file.path, scope);
    for (const node of nodesOf(file.program).filter(({ type }) => /^Class[DE]/.test(type))) {
      const info = classInfo(node, scope);
      const hidden = bodyOf(node).filter((one) => one['accessibility'] === 'private');
      const names = new Set(hidden.map((one) => nameOf(nodeIn(one, 'key'))));
      for (const name of [...info.members.keys()].filter((one) => !names.has(one)))
        classes.set(name, [...(classes.get(name) ?? []), info]);
    }
  }
  return project;
}

/** Returns a module's name: the path of one of the project's own files, or what the import says. */
export function moduleName(source: string, { file, project }: Scope): string {
  return project.importedFile(file.path, source) ?? source;
}

/** Resolves a callee to its function; null if that is not one of the tests' own. */
export function functionOf(callee: SyntaxNode, scope: Scope): Located | null {
  const found = resolve(callee, scope);
  return isFunction(found.node) ? found : null;
}

/** Resolves a callee to its class; null if that is not one of the tests' own. */
export function classOf(callee: SyntaxNode, scope: Scope, left = MAX_STEPS): Located | null {
  const found = resolve(callee, scope, left);
  return found.node.type.startsWith('Class') ? found : null;
}

/** Follows names, imports and members to their values, in at most `left` steps, and stops at what cannot be followed. */
export function resolve(given: SyntaxNode, scope: Scope, left = MAX_STEPS): Located {
  const node = unwrap(given);
  const here = { node, scope };
  if (left <= 0) return here;
  if (node.type === 'MemberExpression') return resolveMember(here, left - 1) ?? here;
  const at = { scope, left: left - 1 };
  const required = requiredBy(node);
  if (required !== null) return imported(required, 'default', at) ?? here;
  const binding = node.type === 'Identifier' ? lookUp(String(node['name']), scope) : null;
  if (binding?.kind === 'import') return imported(binding.source, binding.name, at) ?? here;
  if (binding?.kind !== 'value') return here;
  scope.project.followed.add(binding.node);
  return resolve(binding.node, binding.scope, left - 1);
}

/** Finds what a file exports under a name, and follows it to its value; null if there is no such export. */
function exported(name: string, scope: Scope, left = MAX_STEPS): Located | null {
  const { program } = scope.file;
  const at = { scope, left: left - 1 };
  const found = exportedAs(program, name);
  if (found?.source) return imported(found.source, nameOf(found.node) ?? '', at);
  if (found) return resolve(found.node, scope, left - 1);
  const all = nodesIn(program, 'body').filter(({ type }) => type === 'ExportAllDeclaration');
  return all.map((node) => imported(nameOf(nodeIn(node, 'source')) ?? '', name, at)).find(Boolean) ?? null;
}

function imported(
  source: string,
  name: string,
  { scope, left }: { scope: Scope; left: number },
): Located | null {
  const there = scope.project.files.get(scope.project.importedFile(scope.file.path, source) ?? '');
  return there && left > 0 ? exported(name, there, left) : null;
}

function resolveMember({ node, scope }: Located, left: number): Located | null {
  const name = propertyOf(node);
  const object = nodeIn(node, 'object');
  if (name === null || !object) return null;
  const of = resolve(object, scope, left);
  const inside = partOf(of.node, name);
  if (inside) return resolve(inside, of.scope, left);
  const module = requiredBy(of.node) ?? namespaceOf(object, scope);
  return module === null ? memberByName(name, of, left) : imported(module, name, { scope: of.scope, left });
}

/** Returns the module name in `require('…')`, or null. */
export function requiredBy(node: SyntaxNode): string | null {
  const [first] = nodesIn(node, 'arguments');
  return nameOf(calleeOf(node)) === 'require' ? nameOf(first) : null;
}

/** Returns a member of a class; for a getter, what it returns. */
function memberOf(self: ClassInfo, name: string, left: number): Located | null {
  const node = self.members.get(name);
  if (!node) return null;
  self.scope.project.followed.add(node);
  const member = { node, scope: { ...self.scope, self } };
  const found = (self.getters.has(node) ? returnedValue(member) : null) ?? member;
  return resolve(found.node, found.scope, left);
}

/**
 * Finds a member by its name. If the object's class is unknown, as a fixture's is, exactly one class of the tests must have such a member.
 * Members of pages and locators are Playwright's own.
 */
function memberByName(name: string, { node, scope }: Located, left: number): Located | null {
  const called = propertyOf(calleeOf(node));
  const isPlaywrights = /^(?:getBy\w+|locator|frameLocator|filter|first|last|nth)$/.test(called ?? '');
  const of = propertyOf(node) ?? nameOf(node) ?? '';
  const isGiven = /^(?:page|frame|popup|context|browser|request)$/.test(of);
  const isThis = node.type === 'ThisExpression';
  const isInstance = isThis || /^(?:Identifier|(?:New|Member|Call|Await)Expression)$/.test(node.type);
  if (!isInstance || isPlaywrights || isGiven) return null;
  const callee = node.type === 'NewExpression' ? nodeIn(node, 'callee') : null;
  const made = callee && classOf(callee, scope, left);
  const own = made ? classInfo(made.node, made.scope) : isThis ? scope.self : null;
  const [owner, ...others] = own?.members.has(name) ? [own] : (scope.project.classes.get(name) ?? []);
  return owner && others.length === 0 ? memberOf(owner, name, left) : null;
}

function namespaceOf(object: SyntaxNode, scope: Scope): string | null {
  const binding = object.type === 'Identifier' ? lookUp(String(object['name']), scope) : null;
  return binding?.kind === 'import' && binding.name === '*' ? binding.source : null;
}

/** Returns the named element, property or member of an array literal, an object literal or an enum; null if there is none. */
export function partOf(node: SyntaxNode, name: string): SyntaxNode | null {
  if (node.type === 'ArrayExpression') return nodesIn(node, 'elements')[Number(name)] ?? null;
  const isEnum = node.type === 'TSEnumDeclaration';
  if (!isEnum && node.type !== 'ObjectExpression') return null;
  const parts = isEnum ? nodesIn(nodeIn(node, 'body'), 'members') : nodesIn(node, 'properties');
  const part = parts.find((one) => nameOf(nodeIn(one, isEnum ? 'id' : 'key')) === name);
  return nodeIn(part, isEnum ? 'initializer' : 'value');
}

/** An export of a file: its node, and the module that it is re-exported from, or null. */
interface Exported {
  readonly node: SyntaxNode;
  readonly source: string | null;
}

/** Finds an export by name; null if the file does not name it itself (`export *` is not followed). */
function exportedAs(program: SyntaxNode, name: string): Exported | null {
  for (const one of nodesIn(program, 'body')) {
    const declared = nodeIn(one, 'declaration');
    const isDefault = one.type === 'ExportDefaultDeclaration';
    const given = isDefault && name === 'default' ? declared : commonExport(nodeIn(one, 'expression'), name);
    const named = isDefault ? [] : [declared, ...nodesIn(declared, 'declarations')];
    const id = named.map((part) => nodeIn(part, 'id')).find((part) => nameOf(part) === name);
    const specifier = nodesIn(one, 'specifiers').find((part) => nameOf(nodeIn(part, 'exported')) === name);
    const node = given ?? id ?? nodeIn(specifier, 'local');
    if (node) return { node, source: nameOf(nodeIn(one, 'source')) };
  }
  return null;
}

/** Finds an export written as `module.exports = { name }` or `exports.name = …`. */
function commonExport(node: SyntaxNode | null, name: string): SyntaxNode | null {
  const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')];
  const [object, target] = [nodeIn(left, 'object'), propertyOf(left)];
  if (node?.type !== 'AssignmentExpression' || !right) return null;
  if (nameOf(object) === 'module' && target === 'exports')
    return name === 'default' ? right : partOf(right, name);
  const isExports = nameOf(object) === 'exports' || propertyOf(object) === 'exports';
  return isExports && target === name ? right : null;
}

/** Finds the expression that a function returns, with its scope; null if the function does more than declare constants before it. */
export function returnedValue({ node, scope }: Located): Located | null {
  const body = nodeIn(node, 'body');
  if (body?.type !== 'BlockStatement') return body && { node: body, scope };
  const statements = nodesIn(body, 'body');
  const last = statements.pop();
  const value = last?.type === 'ReturnStatement' ? nodeIn(last, 'argument') : null;
  if (!value || !statements.every(isNaming)) return null;
  if (statements.length === 0) return { node: value, scope };
  const within = innerScope(scope);
  declareAll(statements, within);
  return { node: value, scope: within };
}

/** Whether a statement only names a value, as in `const row = page.getByRole('row')`. One that awaits something does more. */
function isNaming(statement: SyntaxNode): boolean {
  const waits = nodesOf(statement).some(({ type }) => type === 'AwaitExpression');
  return statement.type === 'VariableDeclaration' && statement['kind'] === 'const' && !waits;
}
