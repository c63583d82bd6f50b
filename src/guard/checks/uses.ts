import { constantOf, nameOf, propertyOf } from '../../code/expressions.js';
import { nodeIn, nodesIn, nodesOf, type SyntaxNode } from '../../code/syntax.js';
import { chain, isMadeUp, valueOf } from './values.js';

/** What the checks of a node need to know about its program. */
export interface Uses {
  /** Expressions whose value is dropped, such as calls that are not awaited. */
  readonly floating: ReadonlySet<SyntaxNode>;
  /** Nodes inside a loop. */
  readonly looped: ReadonlySet<SyntaxNode>;
  /** Nodes inside a retry loop, which a `throw` follows. */
  readonly retried: ReadonlySet<SyntaxNode>;
  /** Names imported from JSON files. */
  readonly data: ReadonlySet<string>;
  /** Names of variables whose initial value reads the environment. */
  readonly switches: ReadonlySet<string>;
}

const loop = /^(?:For|While|DoWhile)/;

/** Collects how a program uses its calls, and what some of its names stand for. */
export function usesIn(program: SyntaxNode | null): Uses {
  const [floating, looped, retried] = [new Set<SyntaxNode>(), new Set<SyntaxNode>(), new Set<SyntaxNode>()];
  const [data, switches] = [new Set<string>(), new Set<string>()];
  for (const node of nodesOf(program)) {
    const called = node.type === 'ExpressionStatement' ? nodeIn(node, 'expression') : null;
    if (nameOf(nodeIn(node, 'source'))?.endsWith('.json'))
      for (const one of nodesIn(node, 'specifiers')) data.add(nameOf(nodeIn(one, 'local')) ?? '');
    if (nodesOf(nodeIn(node, 'init')).some(isEnvironment)) switches.add(nameOf(nodeIn(node, 'id')) ?? '');
    if (called) floating.add(called);
    const body = nodesIn(node, 'body');
    const thrown = body.findLastIndex(({ type }) => type === 'ThrowStatement');
    const loops = body.filter((one, index) => index < thrown && loop.test(one.type));
    for (const one of loops.flatMap(nodesOf)) retried.add(one);
    for (const one of loop.test(node.type) ? nodesOf(node) : []) looped.add(one);
  }
  return { floating, looped, retried, data, switches };
}

const isEnvironment = (node: SyntaxNode) => propertyOf(node) === 'env';

/** Whether a node lets a request through, or gives it a hard-coded answer, depending on the environment. */
export function isBypass(node: SyntaxNode, { switches }: Uses): boolean {
  const asked = node.type === 'IfStatement' ? nodesOf(nodeIn(node, 'test')) : [];
  const isSwitched = asked.some(
    (one) => isEnvironment(one) || (one.type === 'Identifier' && switches.has(nameOf(one) ?? '')),
  );
  return (
    isSwitched &&
    nodesOf(nodeIn(node, 'consequent')).some((one) => {
      const value = valueOf(one);
      const isAnswer = value !== null && isMadeUp(value) && (constantOf(value) ?? true) === true;
      return isAnswer || (chain(one) === 'next' && nodesIn(one, 'arguments').length === 0);
    })
  );
}
