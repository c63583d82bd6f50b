import { innerScope } from '../code/scope.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../code/syntax.js';
import { guarded, push, type Reading, textOf } from './reading.js';

const MAX_CALLS = 20;

/** Reads what a function does, the tests' own helpers that it calls included, into `reading.steps`. */
export function readFunction(node: SyntaxNode, reading: Reading): void {
  if (reading.within.includes(node) || reading.within.length > MAX_CALLS)
    return push(node, reading, { verb: 'calls itself', data: textOf(node, reading) });
  reading.reached.add(node);
  const isLate = (node['async'] === true && !reading.awaited) || node['generator'] === true;
  const at = isLate ? guarded(reading, 'not-awaited') : reading;
  const inside = { ...at, scope: innerScope(at.scope), within: [...at.within, node] };
  for (const param of nodesIn(node, 'params')) reading.read(param, { ...inside, awaited: false });
  const body = nodeIn(node, 'body');
  if (body) reading.read(body, { ...inside, awaited: true });
}
