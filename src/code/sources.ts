import path from 'node:path';
import { exportedAs, partOf } from './exports.js';
import { returnedValue } from './returned-value.js';
import { classInfo, type ClassInfo, fileScope, lookUp, type Scope } from './scope.js';
import {
  bare,
  bodyOf,
  calleeOf,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  nodesOf,
  propertyOf,
  type SourceFile,
  type SyntaxNode,
} from './syntax.js';

/** A node and the names in force where it stands. */
export interface Located {
  readonly node: SyntaxNode;
  readonly scope: Scope;
}

/** The parsed test files of one state of the tree, and what their names stand for across files. */
export interface Sources {
  readonly files: ReadonlyMap<string, { readonly file: SourceFile; readonly scope: Scope }>;
  /** Follows names, imports and members to what they stand for; gives back what cannot be followed. */
  resolve(node: SyntaxNode, scope: Scope): Located;
  /** What a file exports under a name, followed to what it stands for; null where it does not. */
  exported(path: string, name: string): Located | null;
  /** The function that a callee names, or null where it is not one of the tests' own. */
  functionOf(callee: SyntaxNode, scope: Scope): Located | null;
  /** The class that a callee names, or null where it is not one of the tests' own. */
  classOf(callee: SyntaxNode, scope: Scope): Located | null;
  /** Values that a name was followed to so far. */
  readonly followed: ReadonlySet<SyntaxNode>;
  /** A module's name, the same from wherever it is imported. */
  moduleName(from: string, source: string): string;
}

const MAX_STEPS = 30;

/** Joins parsed files; `importedFile` resolves an import of one file to the path of another, or null. */
export function openSources(
  parsed: readonly SourceFile[],
  importedFile: (from: string, source: string) => string | null,
): Sources {
  const files = new Map(parsed.map((file) => [file.path, { file, scope: fileScope(file) }]));
  const followed = new Set<SyntaxNode>();
  const project = {
    files,
    importedFile,
    followed,
    members: membersOf([...files.values()].map((one) => one.scope)),
  };
  const followTo = (is: (node: SyntaxNode) => boolean, from: Located) => {
    const found = follow(from, project, MAX_STEPS);
    return is(found.node) ? found : null;
  };
  return {
    files,
    followed,
    resolve: (node, scope) => follow({ node, scope }, project, MAX_STEPS),
    exported: (path, name) => exported({ path, name }, project, MAX_STEPS),
    functionOf: (node, scope) => followTo(isFunction, { node, scope }),
    classOf: (node, scope) => followTo(({ type }) => type.startsWith('Class'), { node, scope }),
    moduleName: (from, source) =>
      importedFile(from, source) ??
      (source.startsWith('.') ? path.posix.join(path.posix.dirname(from), source) : source),
  };
}

/** All test files, as they are followed through. */
interface Project {
  readonly files: Sources['files'];
  readonly importedFile: (from: string, source: string) => string | null;
  /** Values that a name was followed to. */
  readonly followed: Set<SyntaxNode>;
  /** Classes by the names of their members. */
  readonly members: ReadonlyMap<string, readonly ClassInfo[]>;
}

function follow({ node: given, scope }: Located, project: Project, left: number): Located {
  const node = bare(given);
  const here = { node, scope };
  if (left <= 0) return here;
  if (node.type === 'MemberExpression') return followMember(here, project, left - 1) ?? here;
  const required = project.importedFile(scope.file.path, requiredBy(node) ?? '');
  if (required !== null) return exported({ path: required, name: 'default' }, project, left - 1) ?? here;
  if (node.type !== 'Identifier') return here;
  const binding = lookUp(String(node['name']), scope);
  if (binding?.kind === 'value') {
    project.followed.add(binding.node);
    return follow(binding, project, left - 1);
  }
  if (binding?.kind !== 'import') return here;
  const next = project.importedFile(scope.file.path, binding.source);
  return (next !== null && exported({ path: next, name: binding.name }, project, left - 1)) || here;
}

function exported(
  { path, name }: { path: string; name: string },
  project: Project,
  left: number,
): Located | null {
  const there = project.files.get(path);
  if (!there || left <= 0) return null;
  const from = (source: string, of: string) => {
    const next = project.importedFile(path, source);
    return next === null ? null : exported({ path: next, name: of }, project, left - 1);
  };
  const { program } = there.file;
  const found = exportedAs(program, name);
  if (found?.source) return from(found.source, nameOf(found.node) ?? '');
  if (found) return follow({ node: found.node, scope: there.scope }, project, left - 1);
  const all = nodesIn(program, 'body').filter(({ type }) => type === 'ExportAllDeclaration');
  return all.map((node) => from(nameOf(nodeIn(node, 'source')) ?? '', name)).find(Boolean) ?? null;
}

function followMember({ node, scope }: Located, project: Project, left: number): Located | null {
  const name = propertyOf(node);
  const object = nodeIn(node, 'object');
  if (name === null || !object) return null;
  const ownMember = scope.self?.members.get(name);
  if (object.type === 'ThisExpression')
    return ownMember && scope.self ? follow(ofClass(ownMember, scope.self), project, left) : null;
  const of = follow({ node: object, scope }, project, left);
  const inside = partOf(of.node, name);
  if (inside) return follow({ node: inside, scope: of.scope }, project, left);
  const module = requiredBy(of.node) ?? namespaceOf(object, scope);
  if (module === null) return memberByName(name, of, { project, left });
  const path = project.importedFile(of.scope.file.path, module);
  return path === null ? null : exported({ path, name }, project, left);
}

/** The module of `require('…')`, or null. */
export function requiredBy(node: SyntaxNode): string | null {
  const [first] = nodesIn(node, 'arguments');
  return nameOf(calleeOf(node)) === 'require' ? nameOf(first) : null;
}

function ofClass(node: SyntaxNode, self: ClassInfo): Located {
  const member = { node, scope: { ...self.scope, self } };
  return (self.getters.has(node) ? returnedValue(member) : null) ?? member;
}

/** A member of an object of unknown class (a fixture, say) is found where just one class of the tests has it; a page's and a locator's are Playwright's own. */
function memberByName(
  name: string,
  object: Located,
  { project, left }: { project: Project; left: number },
): Located | null {
  const { node } = object;
  const called = propertyOf(calleeOf(node));
  const isPlaywrights = /^(?:getBy\w+|locator|frameLocator|filter|first|last|nth)$/.test(called ?? '');
  const of = propertyOf(node) ?? nameOf(node) ?? '';
  const isGiven = /^(?:page|frame|popup|context|browser|request)$/.test(of);
  const isInstance = /^(?:Identifier|(?:New|This|Member|Call|Await)Expression)$/.test(node.type);
  if (!isInstance || isPlaywrights || isGiven) return null;
  const own = classOf(object, project, left);
  const owners = own?.members.has(name) ? [own] : (project.members.get(name) ?? []);
  const [owner] = owners;
  const found = owner?.members.get(name);
  return owner && found && owners.length === 1 ? follow(ofClass(found, owner), project, left) : null;
}

function classOf({ node, scope }: Located, project: Project, left: number): ClassInfo | null {
  const callee = node.type === 'NewExpression' ? nodeIn(node, 'callee') : null;
  const found = callee ? follow({ node: callee, scope }, project, left) : null;
  return found?.node.type.startsWith('Class') ? classInfo(found.node, found.scope) : null;
}

function namespaceOf(object: SyntaxNode, scope: Scope): string | null {
  const binding = object.type === 'Identifier' ? lookUp(String(object['name']), scope) : null;
  return binding?.kind === 'import' && binding.name === '*' ? binding.source : null;
}

/** All classes of all files, by the names of their members that others may use. */
function membersOf(scopes: readonly Scope[]): Map<string, ClassInfo[]> {
  const byName = new Map<string, ClassInfo[]>();
  for (const scope of scopes)
    for (const node of nodesOf(scope.file.program).filter(({ type }) => /^Class[DE]/.test(type))) {
      const info = classInfo(node, scope);
      const hidden = bodyOf(node).filter((one) => one['accessibility'] === 'private');
      const names = new Set(hidden.map((one) => nameOf(nodeIn(one, 'key'))));
      for (const name of [...info.members.keys()].filter((one) => !names.has(one)))
        byName.set(name, [...(byName.get(name) ?? []), info]);
    }
  return byName;
}
