import { printCode } from '../code/print.js';
import { returnedValue } from '../code/returned-value.js';
import { parameterScope } from '../code/scope.js';
import type { Located, Sources } from '../code/sources.js';
import {
  bare,
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  placeOf,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import { type Around, readDefinitions } from './definitions.js';
import { readFixtures } from './fixtures.js';
import { type Reading, stepAt } from './reading.js';
import { readers, readFunction } from './statements.js';
import type { ActionStep, Root, Step } from './step.js';

/** Reads every test, fixture, helper and module of these files, with what each does. */
export function readRoots(sources: Sources, affected: ReadonlySet<string>): Root[] {
  const roots: Root[] = [];
  const reached = new Set<SyntaxNode>();
  const modules = [...sources.files.values()]
    .filter(({ file }) => affected.has(file.path))
    .map(({ file, scope }) => {
      const reading = { sources, scope, guards: [], awaited: false, within: [], steps: [], reached, readers };
      return { ...reading, titles: [file.path], before: [], after: [], roots };
    });
  for (const around of modules) {
    const { path: file, program } = around.scope.file;
    readDefinitions(nodesIn(program, 'body'), around);
    readFixtures(program, around);
    const place = { file, line: 1, source: '' };
    roots.push({ kind: 'module', key: `module ${file}`, title: file, steps: around.steps, ...place });
  }
  // What is reached from other files is known only now.
  for (const around of modules) {
    readUnfollowed(around.scope.file.program, around);
    readRest(around.scope.file.program, { ...around, awaited: true });
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
      steps.push(stepAt(one, { scope }, { kind: 'check', rule: 'step-changed', verb: 'declares', data }));
    }
  }
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
  return stepAt(node, { scope }, { rule: 'step-changed', verb: 'returns', data: text, locators });
}
