import { type PrintContext, printCode } from '../code/print.js';
import { declarePattern, innerScope, lookUp, type Scope } from '../code/scope.js';
import type { Sources } from '../code/sources.js';
import { childrenOf, isFunction, nodeIn, nodesIn, placeOf, type SyntaxNode } from '../code/syntax.js';
import { isTestObject, rootName } from '../code/test-object.js';
import type { ActionStep, Step } from './step.js';

/** Where the reading stands. */
export interface Reading {
  readonly sources: Sources;
  readonly scope: Scope;
  readonly guards: readonly string[];
  readonly awaited: boolean;
  /** Functions that are being read: none is read inside itself. */
  readonly within: readonly SyntaxNode[];
  readonly steps: Step[];
  /** Functions that were reached, for whoever reads the rest. */
  readonly reached: Set<SyntaxNode>;
  readonly readers: Readers;
}

/** How what stands inside is read, so that the parts of the reader need not know each other. */
export interface Readers {
  readonly readFunction: (node: SyntaxNode, reading: Reading) => void;
  readonly readExpression: (node: SyntaxNode, reading: Reading) => void;
}

const counted = new WeakMap<readonly Step[], { upTo: number; actions: number }>();

/** How many actions the test has done so far. */
export function actionsIn({ steps }: Reading): number {
  const known = counted.get(steps) ?? { upTo: 0, actions: 0 };
  for (; known.upTo < steps.length; known.upTo += 1)
    if (steps[known.upTo]?.kind === 'action') known.actions += 1;
  counted.set(steps, known);
  return known.actions;
}

/** The same place behind one more condition. */
export function guarded<Where extends Reading>(reading: Where, guard: string): Where {
  return { ...reading, guards: [...reading.guards, guard] };
}

/** An expression as a text, its locators spelled out. */
export function textOf(node: SyntaxNode | null, reading: Reading): string {
  if (!node) return '';
  const { text, locators } = printCode(node, reading.scope, context(reading));
  let next = 0;
  return text.replaceAll('‹locator›', () => locators[next++]?.code ?? '‹locator›');
}

/** What printing needs to know of the place. */
export function context(reading: Reading): PrintContext {
  return { sources: reading.sources, actions: actionsIn(reading) };
}

/** Whether a block leaves the function or the loop, and so drops an error. */
export function leaves(finalizer: SyntaxNode): boolean {
  if (isFunction(finalizer)) return false;
  return /^(?:Return|Break|Continue)Statement$/.test(finalizer.type) || childrenOf(finalizer).some(leaves);
}

/** Whether a handler ends with a throw that nothing keeps it from. */
export function throwsAgain(handler: SyntaxNode): boolean {
  const body = nodeIn(handler, 'body');
  const statements = body ? nodesIn(body, 'body') : [];
  return (
    statements.at(-1)?.type === 'ThrowStatement' &&
    !statements.some((one) => /^(?:Return|Break|Continue|If|Switch|For|While|Do)/.test(one.type))
  );
}

/** What a name that changes is known by, or empty. */
export function labelOf(name: string, { scope }: Reading): string {
  const binding = lookUp(name, scope);
  return binding?.kind === 'opaque' ? binding.label : '';
}

type Told = Partial<Pick<ActionStep, 'kind' | 'rule' | 'timeoutMs' | 'locators'>> &
  Pick<ActionStep, 'verb' | 'data'>;
type Where = Pick<Reading, 'scope'> & Partial<Pick<Reading, 'guards' | 'awaited'>>;

/** A step that has no fields but these. */
export function stepAt(
  node: SyntaxNode,
  { scope, guards = [], awaited = true }: Where,
  told: Told,
): ActionStep {
  return {
    kind: 'action',
    rule: 'step-added',
    locators: [],
    timeoutMs: null,
    forced: false,
    guards,
    awaited,
    ...placeOf(scope.file, node),
    ...told,
  };
}

/** Adds such a step. */
export function push(node: SyntaxNode, reading: Reading, told: Told): void {
  reading.steps.push(stepAt(node, reading, told));
}

/** Whether something is called on Playwright's `test`. */
export function isTests(node: SyntaxNode, { scope, sources }: Reading): boolean {
  const root = rootName(node);
  return root !== null && isTestObject(root, scope, sources);
}

/** One reading for each element of a list that is written out, or one for all of one that is not. */
export function eachOf<Where extends Reading>(
  list: SyntaxNode,
  pattern: SyntaxNode | null,
  reading: Where,
): Where[] {
  const found = reading.sources.resolve(list, reading.scope);
  const elements = found.node.type === 'ArrayExpression' ? nodesIn(found.node, 'elements') : null;
  const bind = (init: SyntaxNode | null, at: Where): Where => {
    const scope = innerScope(at.scope);
    if (pattern) declarePattern(pattern, { scope, label: '‹each›', init, from: found.scope });
    return { ...at, scope };
  };
  if (elements && !elements.some((one) => one.type === 'SpreadElement'))
    return elements.map((one) => bind(one, reading));
  return [bind(null, guarded(reading, `for each of ${textOf(list, reading)}`))];
}
