import { bare, isFunction, nameOf } from '../../code/expressions.js';
import { lookUp, parameterScope } from '../../code/scope.js';
import { placeOf } from '../../code/source-file.js';
import { resolve } from '../../code/sources.js';
import { nodeIn, nodesIn, type SyntaxNode } from '../../code/syntax.js';
import { chainOf, originOf, rootName } from '../../code/test-object.js';
import type { Rule } from '../rules.js';
import { guarded, push, type Reading, readFunction, textOf } from './reading.js';
import type { Step } from './step.js';

/** Reads a call of Playwright's `test` that defines a test, a describe block or a hook; returns false for any other call. */
export function readDefinition(call: SyntaxNode, callee: SyntaxNode, reading: Reading): boolean {
  const chain = chainOf(callee);
  const args = nodesIn(call, 'arguments');
  const name = chain.at(-1) ?? '';
  const last = args.at(-1);
  const found = last && resolve(last, reading.scope);
  if (!found || !isFunction(found.node) || /^(?:step|use|extend|configure)$/.test(name)) return false;
  const made = found.node;
  const inside = { ...reading, scope: parameterScope(made, found.scope) };
  if (/^(?:before|after)(?:Each|All)$/.test(name)) {
    const steps = name.startsWith('before') ? reading.hooks.before : reading.hooks.after;
    const at = name.endsWith('All') ? guarded(inside, `made-conditional in ${name}`) : inside;
    readFunction(made, { ...at, steps, awaited: true });
    return true;
  }
  const [first, details] = args;
  if (!first || (isFunction(bare(first)) && !chain.includes('describe'))) return false;
  const title = first === last ? '""' : textOf(first, reading);
  const kind = chain.includes('describe') ? 'describe' : 'test';
  const steps: Step[] = [];
  const titles = [...reading.titles, title];
  const hooks = kind === 'describe' ? { around: reading.hooks, before: [], after: [] } : reading.hooks;
  const at = { ...inside, steps, titles, hooks };
  const told = args.length > 2 && details ? [textOf(details, reading)] : [];
  for (const data of [...chain.filter((one) => one !== 'describe'), ...told]) {
    const rule: Rule = /^(?:skip|fixme|fail|only|slow)$/.test(data) ? 'test-modifier' : 'run-option';
    push(call, { ...at, scope: reading.scope }, { kind: 'restriction', rule, verb: 'test', data });
  }
  const origin = originOf(rootName(callee) ?? callee, reading.scope);
  // A `test` that is not Playwright's own: its origin counts.
  if (origin !== 'playwright')
    push(call, { ...at, scope: reading.scope }, { rule: 'expect-replaced', verb: 'test from', data: origin });
  readFunction(made, { ...at, awaited: true });
  const [, ...shown] = titles.map((one) => one.replaceAll(/^"|"$/g, ''));
  const names = { key: `${kind} ${titles.join(' › ')}`, title: shown.join(' › ') };
  reading.roots.push({ kind, ...names, steps, hooks, ...placeOf(reading.scope.file, call) });
  return true;
}

/** Reads the fixtures of `test.extend({ cart: async ({ page }, use) => … })`, each with steps of its own. */
export function readFixtures(call: SyntaxNode, callee: SyntaxNode, reading: Reading): void {
  const name = String(rootName(callee)?.['name']);
  const binding = lookUp(name, reading.scope);
  const isExpect = /expect/i.test(binding?.kind === 'import' ? binding.name : name);
  const [first] = nodesIn(call, 'arguments');
  const found = first && resolve(first, reading.scope);
  for (const property of found ? nodesIn(found.node, 'properties') : []) {
    const title = nameOf(nodeIn(property, 'key')) ?? '…';
    const value = nodeIn(property, 'value') ?? property;
    const parts = value.type === 'ArrayExpression' ? nodesIn(value, 'elements') : [value];
    const made = parts.find(isFunction);
    const told = made && !isExpect ? parts.slice(1) : [value];
    const steps: Step[] = [];
    const at = { ...reading, steps, awaited: true };
    push(property, at, {
      rule: isExpect ? 'expect-replaced' : 'fixture-added',
      verb: 'fixture',
      data: [title, ...told.map((one) => textOf(one, reading))].join(', '),
    });
    if (made) readFunction(made, { ...at, scope: parameterScope(made, reading.scope) });
    const place = placeOf(reading.scope.file, property);
    reading.roots.push({ kind: 'fixture', key: `fixture ${title}`, title, steps, ...place });
  }
}
