import { printCode } from '../code/print.js';
import { parameterScope } from '../code/scope.js';
import {
  isFunction,
  nameOf,
  nodeIn,
  nodesIn,
  placeOf,
  propertyOf,
  type SyntaxNode,
  visit,
} from '../code/syntax.js';
import { rootName } from '../code/test-object.js';
import type { Around } from './definitions.js';
import { stepAt } from './reading.js';
import { readFunction } from './statements.js';
import type { Step } from './step.js';

/** `test.extend({ cart: async ({ page }, use) => … })`: each fixture does something of its own. */
export function readFixtures(program: SyntaxNode, around: Around): void {
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
      const steps: Step[] = [stepAt(property, { scope }, { rule, verb: 'fixture', data: data.join(', ') })];
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
