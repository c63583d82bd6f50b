import { spell } from '../../code/locator.js';
import { printCode, type PrintPlace } from '../../code/print.js';
import { declarePattern, innerScope, type Scope } from '../../code/scope.js';
import { placeOf } from '../../code/source-file.js';
import { resolve } from '../../code/sources.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import type { ActionStep, BareAssertion, Hooks, Root, Step } from './step.js';

/** Where the reading stands. */
export interface Reading {
  readonly scope: Scope;
  /** What may keep a step from running or from failing the test: the rule that a new one breaks, then its text. */
  readonly guards: readonly string[];
  readonly awaited: boolean;
  /** Functions that are being read: none is read inside itself. */
  readonly within: readonly SyntaxNode[];
  readonly steps: Step[];
  /** The file and the describe blocks around. */
  readonly titles: readonly string[];
  /** Hooks of the block. */
  readonly hooks: Hooks;
  /** Tests and fixtures that were come by. */
  readonly roots: Root[];
  /** Functions that were reached, for whoever reads the rest. */
  readonly reached: Set<SyntaxNode>;
  /** How what stands inside is read, so that the parts of the reader need not know each other. */
  readonly read: (node: SyntaxNode, reading: Reading) => void;
}

/** How many actions the test has done so far. */
export function actionsIn({ steps }: Reading): number {
  return steps.filter(({ kind }) => kind === 'action').length;
}

/** The same place behind one more guard. */
export function guarded(reading: Reading, guard: string): Reading {
  return { ...reading, guards: [...reading.guards, guard] };
}

/** The same place, where nobody waits. */
export const still = (reading: Reading): Reading => ({ ...reading, awaited: false });

/** An expression as a text, its locators spelled out. */
export function textOf(node: SyntaxNode | null, reading: Reading): string {
  if (!node) return '';
  const { text, locators } = printCode(node, spotOf(reading));
  return spell(text, locators);
}

/** Where an expression that stands here is printed. */
export function spotOf(reading: Reading): PrintPlace {
  return { scope: reading.scope, actions: actionsIn(reading) };
}

/** Adds a step; an action has no fields but these. */
export function push(
  node: SyntaxNode,
  { scope, guards, awaited, steps }: Reading,
  told: BareAssertion | (Partial<ActionStep> & Pick<ActionStep, 'verb' | 'data'>),
): void {
  const place = { guards, awaited, ...placeOf(scope.file, node) };
  const usual = { kind: 'action', rule: 'step-added', locators: [], timeoutMs: null, forced: false } as const;
  steps.push(told.kind === 'assertion' ? { ...told, ...place } : { ...usual, ...place, ...told });
}

/** Reads what is done for each element of a list that is written out, or once for all of one that is not. */
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
  if (elements && elements.length <= MAX_EACH && !elements.some((one) => one.type === 'SpreadElement')) {
    for (const one of elements) readWith(one, reading);
    return;
  }
  const { text: data, locators } = printCode(list, spotOf(reading));
  const count = reading.steps.length;
  readWith(null, guarded(reading, `made-conditional for each of ${data}`));
  // What it goes over may be nothing, and then nothing inside is reached.
  if (reading.steps.length > count)
    push(list, reading, { kind: 'check', rule: 'step-changed', verb: goesOver, data, locators });
}

/** What a loop does with the locators of its list. */
export const goesOver = 'goes over';

const MAX_CALLS = 20;
/** A longer list is read as one element that stands for all. */
const MAX_EACH = 100;

/** Reads what a function does, the tests' own helpers that it calls included, into `reading.steps`. */
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
