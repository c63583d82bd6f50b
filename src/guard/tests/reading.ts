import { spell } from '../../code/locator.js';
import { printCode, type PrintPlace } from '../../code/print.js';
import { declarePattern, innerScope, type Scope } from '../../code/scope.js';
import { placeOf } from '../../code/source-file.js';
import { resolve } from '../../code/sources.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import type { ActionStep, BareAssertion, Hooks, Root, Step } from './step.js';

/** The position of the reader in the test code. */
export interface Reading {
  readonly scope: Scope;
  /** What may keep a step from running or from failing the test: the rule that adding it breaks, followed by its text. */
  readonly guards: readonly string[];
  readonly awaited: boolean;
  /** Functions being read, to stop recursion. */
  readonly within: readonly SyntaxNode[];
  readonly steps: Step[];
  /** The file, and the titles of the enclosing describe blocks. */
  readonly titles: readonly string[];
  /** The hooks of the enclosing block. */
  readonly hooks: Hooks;
  /** The tests, fixtures and other roots found so far. */
  readonly roots: Root[];
  /** Functions reached so far. The rest are read on their own at the end. */
  readonly reached: Set<SyntaxNode>;
  /** Reads nested code. Passed along, so that the modules of the reader need not import each other. */
  readonly read: (node: SyntaxNode, reading: Reading) => void;
}

/** Returns how many actions the test has performed so far. */
export function actionsIn({ steps }: Reading): number {
  return steps.filter(({ kind }) => kind === 'action').length;
}

/** Returns the same position behind one more guard. */
export function guarded(reading: Reading, guard: string): Reading {
  return { ...reading, guards: [...reading.guards, guard] };
}

/** Returns the same position, with nothing awaited. */
export const still = (reading: Reading): Reading => ({ ...reading, awaited: false });

/** Prints an expression with its locators written out. */
export function textOf(node: SyntaxNode | null, reading: Reading): string {
  if (!node) return '';
  const { text, locators } = printCode(node, spotOf(reading));
  return spell(text, locators);
}

/** The context in which an expression is printed. */
export function spotOf(reading: Reading): PrintPlace {
  return { scope: reading.scope, actions: actionsIn(reading) };
}

/** Adds a step. An action gets defaults for the fields that are not given. */
export function push(
  node: SyntaxNode,
  { scope, guards, awaited, steps }: Reading,
  told: BareAssertion | (Partial<ActionStep> & Pick<ActionStep, 'verb' | 'data'>),
): void {
  const place = { guards, awaited, ...placeOf(scope.file, node) };
  const usual = { kind: 'action', rule: 'step-added', locators: [], timeoutMs: null, forced: false } as const;
  steps.push(told.kind === 'assertion' ? { ...told, ...place } : { ...usual, ...place, ...told });
}

/** Reads what is done for each element of an array literal, or once for all elements of any other list. */
export function readEach(
  { list, pattern }: { list: SyntaxNode; pattern: SyntaxNode | null },
  reading: Reading,
  readOne: (at: Reading) => void,
): void {
  const found = resolve(list, reading.scope);
  const elements = found.node.type === 'ArrayExpression' ? nodesIn(found.node, 'elements') : null;
  const readWith = (init: SyntaxNode | null, at: Reading) => {
    const scope = innerScope(at.scope);
    if (pattern) declarePattern(pattern, { scope, label: '‹each›', init, from: found.scope });
    readOne({ ...at, scope });
  };
  // An array that begins empty is filled elsewhere.
  if (
    elements?.length &&
    elements.length <= MAX_EACH &&
    !elements.some((one) => one.type === 'SpreadElement')
  ) {
    for (const one of elements) readWith(one, reading);
    return;
  }
  const { text: data, locators } = printCode(list, spotOf(reading));
  const count = reading.steps.length;
  readWith(null, guarded(reading, `made-conditional for each of ${data}`));
  // The list may be empty, and then nothing inside is reached.
  if (reading.steps.length > count)
    push(list, reading, { kind: 'check', rule: 'step-changed', verb: goesOver, data, locators });
}

/** The verb of the step that stands for a loop's use of the locators in its list. */
export const goesOver = 'goes over';

const MAX_CALLS = 20;
/** A longer list is read once, with one element standing for all. */
const MAX_EACH = 100;

/** Reads what a function does, including the tests' own helpers that it calls, into `reading.steps`. */
export function readFunction(node: SyntaxNode, reading: Reading): void {
  if (reading.within.includes(node) || reading.within.length > MAX_CALLS)
    return push(node, reading, { verb: 'calls itself', data: textOf(node, reading) });
  reading.reached.add(node);
  const isLate = (node['async'] === true && !reading.awaited) || node['generator'] === true;
  const at = isLate ? guarded(reading, 'not-awaited') : reading;
  const inside = { ...at, scope: innerScope(at.scope), within: [...at.within, node] };
  for (const param of nodesIn(node, 'params')) reading.read(param, still(inside));
  const body = nodeIn(node, 'body');
  if (body) reading.read(body, { ...inside, awaited: true });
}
