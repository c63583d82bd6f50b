import { bare, isFunction, nameOf, propertyOf } from '../../code/expressions.js';
import { printCode } from '../../code/print.js';
import { returnedValue } from '../../code/returned-value.js';
import { parameterScope, type Project } from '../../code/scope.js';
import { placeOf } from '../../code/source-file.js';
import { nodeIn, nodesOf, type SyntaxNode, visit } from '../../code/syntax.js';
import { push, type Reading, readFunction } from './reading.js';
import { read } from './statements.js';
import type { Hooks, Root, Step } from './step.js';

/** Reads every test, fixture, helper and module of these files, with the steps of each. */
export function readRoots({ files }: Project, affected: ReadonlySet<string>): Root[] {
  const roots: Root[] = [];
  const reached = new Set<SyntaxNode>();
  const modules = [...files.values()]
    .filter(({ file }) => affected.has(file.path))
    .map((scope): Reading => {
      const hooks = { around: null, before: [], after: [] };
      const place = {
        scope,
        hooks,
        guards: [],
        within: [],
        steps: [],
        awaited: false,
        titles: [scope.file.path],
      };
      return { ...place, roots, reached, read };
    });
  for (const module of modules) {
    const { path: file, program } = module.scope.file;
    read(program, module);
    const place = { file, line: 1, source: '' };
    roots.push({ kind: 'module', key: `module ${file}`, title: file, steps: module.steps, ...place });
  }
  // Only now is it known what other files reach.
  for (const module of modules)
    visit(module.scope.file.program, (node) => {
      readUnfollowed(node, module);
      readUncalled(node, module);
    });
  return roots.map((root) => ({
    ...root,
    steps: root.kind === 'test' ? hooked(root.steps, root.hooks) : root.steps,
  }));
}

function hooked(steps: readonly Step[], hooks: Hooks | null | undefined): readonly Step[] {
  return hooks ? hooked([...hooks.before, ...steps, ...hooks.after], hooks.around) : steps;
}

/** Reads a module constant that no test was seen to use: it is unused, or used in a way that cannot be followed. Its text is compared. */
function readUnfollowed(node: SyntaxNode, reading: Reading): void {
  const [name, init] = [nameOf(nodeIn(node, 'id')), nodeIn(node, 'init')];
  if (!init || !name || isFunction(bare(init)) || reading.scope.project.followed.has(init)) return;
  const data = `${name} = ${printCode(init, reading).text}`;
  push(node, reading, { kind: 'check', rule: 'step-changed', verb: 'declares', data });
}

/** Reads a function that no test was seen to call: it is not called, or called in a way that cannot be followed. */
function readUncalled(node: SyntaxNode, reading: Reading): void {
  const value = ['value', 'init', 'right', 'declaration'].flatMap((field) => nodeIn(node, field) ?? [])[0];
  const made = node.type === 'FunctionDeclaration' ? node : value;
  if (!made || !isFunction(made) || reading.reached.has(made)) return;
  const title =
    nameOf(nodeIn(node, 'key') ?? nodeIn(node, 'id')) ?? propertyOf(nodeIn(node, 'left')) ?? 'default';
  const steps: Step[] = [];
  const scope = parameterScope(made, reading.scope);
  const at = { ...reading, steps, awaited: true, scope };
  readFunction(made, at);
  const only = returnedValue({ node: made, scope });
  const returned = nodesOf(made).filter(({ type }) => type === 'ReturnStatement');
  const values = returned.flatMap((one) => nodeIn(one, 'argument') ?? []);
  for (const given of only ? [only] : values.map((value) => ({ node: value, scope }))) {
    const { text: data, locators } = printCode(given.node, given);
    push(given.node, at, { rule: 'step-changed', verb: 'returns', data, locators });
  }
  const place = placeOf(scope.file, made);
  reading.roots.push({ kind: 'function', key: `function ${title}`, title, steps, ...place });
}
