import { builtIn } from '../core/built-in-fixer.js';
import { builtInRunners, isBuiltInRunner } from '../core/built-in-runner.js';
import { rules } from '../core/classify/rules.js';
import { closest } from './closest.js';
import { defaultAgents } from './defaults.js';
import { hint, type Mistake } from './mistake.js';
import { valueAt } from './tree.js';

/**
 * Checks that the agents and runners a file refers to exist. Takes unvalidated data: a file with a wrong shape in one place may have an
 * unknown name in another, and all mistakes are reported at once (CF-3).
 */
export function checkReferences(data: unknown): Mistake[] {
  const agents = [...defaultAgents, ...keysOf(valueAt(data, ['agents']))];
  const runners = [builtIn, ...builtInRunners, ...keysOf(valueAt(data, ['runners']))];
  const named = keysOf(valueAt(data, ['agents'])).map((agent) => ['agents', agent, 'runner']);
  return [
    ...keysOf(valueAt(data, ['runners'])).flatMap((name) =>
      checkRunnerKeys(name, valueAt(data, ['runners', name])),
    ),
    ...[['runner'], ...named].flatMap((path) => checkRunner(path, valueAt(data, path), runners)),
    ...keysOf(valueAt(data, ['routes'])).flatMap((category) =>
      checkRoute(category, valueAt(data, ['routes', category]), agents),
    ),
    ...checkRules(valueAt(data, ['classify'])),
  ];
}

function checkRules(classify: unknown): Mistake[] {
  const known = rules.map(({ id }) => id);
  const off = valueAt(classify, ['off']);
  const own = valueAt(classify, ['rules']);
  const ids = (Array.isArray(own) ? own : []).map((rule: unknown) => valueAt(rule, ['id']));
  return [
    ...(Array.isArray(off) ? off : []).flatMap((id: unknown, index) => {
      if (typeof id !== 'string' || id.trim() === '' || known.includes(id)) return [];
      const message = `no built-in rule has this id${hint(closest(id, known), [], '')}`;
      return [{ path: ['classify', 'off', index], part: 'value' as const, absent: false, message }];
    }),
    ...ids.flatMap((id, index) => {
      if (typeof id !== 'string' || ids.indexOf(id) === index) return [];
      const message = `another rule already has the id "${id}"`;
      return [{ path: ['classify', 'rules', index, 'id'], part: 'value' as const, absent: false, message }];
    }),
  ];
}

/** Custom runners need a command. Built-in runners have one, and accept additional arguments and variables. */
function checkRunnerKeys(name: string, runner: unknown): Mistake[] {
  const keys = keysOf(runner);
  const path = ['runners', name];
  if (name === builtIn || isBuiltInRunner(name)) {
    if (name !== builtIn && !keys.includes('command') && !keys.includes('prompt')) return [];
    const message = `"${name}" is the name of a built-in runner; choose another`;
    return [{ path, part: 'key', absent: false, message }];
  }
  const needed: Mistake[] =
    typeof runner === 'object' && runner !== null && !keys.includes('command')
      ? [{ path: [...path, 'command'], part: 'value', absent: true, message: `"${name}" needs a "command"` }]
      : [];
  const misplaced = keys.filter((key) => key === 'args' || key === 'env');
  return [
    ...needed,
    ...misplaced.map((key): Mistake => {
      const message = `"${key}" is for built-in runners; put it into "command"`;
      return { path: [...path, key], part: 'key', absent: false, message };
    }),
  ];
}

function checkRunner(path: readonly string[], value: unknown, runners: readonly string[]): Mistake[] {
  if (typeof value !== 'string' || value.trim() === '' || runners.includes(value)) return [];
  const message = `unknown runner${hint(closest(value, runners), [...new Set(runners)], 'known are')}`;
  return [{ path, part: 'value', absent: false, message }];
}

function checkRoute(category: string, route: unknown, agents: readonly string[]): Mistake[] {
  if (!Array.isArray(route)) return [];
  return route.flatMap((agent: unknown, index) => {
    if (typeof agent !== 'string' || agent.trim() === '' || agents.includes(agent)) return [];
    const message = `unknown agent${hint(closest(agent, agents), [...new Set(agents)], 'known are')}`;
    return [{ path: ['routes', category, index], part: 'value' as const, absent: false, message }];
  });
}

function keysOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}
