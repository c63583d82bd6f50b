import { builtIn } from '../core/built-in-fixer.js';
import { builtInRunners, isBuiltInRunner } from '../core/built-in-runner.js';
import { rules } from '../core/classify/rules.js';
import { defaultAgents } from './agent-schema.js';
import { closest } from './closest.js';
import { hint, type Mistake } from './mistake.js';
import { valueAt } from './tree.js';

/**
 * Checks that the agents and runners a file refers to exist. Takes unvalidated data: a file with a wrong shape in one place may have an
 * unknown name in another, and all mistakes are reported at once (CF-3).
 */
export function checkReferences(data: unknown): Mistake[] {
  const ownAgents = keysAt(data, ['agents']);
  const agents = [...new Set([...defaultAgents, ...ownAgents])];
  const runners = [...new Set([builtIn, ...builtInRunners, ...keysAt(data, ['runners'])])];
  const runnerNames = [['runner'], ...ownAgents.map((agent) => ['agents', agent, 'runner'])];
  return [
    ...keysAt(data, ['runners']).flatMap((name) => checkRunnerKeys(name, valueAt(data, ['runners', name]))),
    ...runnerNames.flatMap((path) => checkName(data, path, { isNot: 'unknown runner', known: runners })),
    ...keysAt(data, ['routes'])
      .flatMap((category) => itemsAt(data, ['routes', category]))
      .flatMap((path) => checkName(data, path, { isNot: 'unknown agent', known: agents })),
    ...itemsAt(data, ['classify', 'off']).flatMap((path) =>
      checkName(data, path, { isNot: 'no built-in rule has this id', known: ruleIds, choice: [] }),
    ),
    ...repeatedIds(data),
  ];
}

const ruleIds = rules.map(({ id }) => id);

interface Names {
  /** What is wrong with any other name. */
  readonly isNot: string;
  readonly known: readonly string[];
  /** The names to list if none is close. */
  readonly choice?: readonly string[];
}

/** Checks the name at a path. Anything but a text is a mistake of the shape, which is reported elsewhere. */
function checkName(data: unknown, path: Path, { isNot, known, choice = known }: Names): Mistake[] {
  const name = valueAt(data, path);
  if (typeof name !== 'string' || name.trim() === '' || known.includes(name)) return [];
  return [{ path, message: `${isNot}${hint(closest(name, known), choice, 'known are')}` }];
}

function repeatedIds(data: unknown): Mistake[] {
  const paths = itemsAt(data, ['classify', 'rules']).map((path) => [...path, 'id']);
  const ids = paths.map((path) => valueAt(data, path));
  return ids.flatMap((id, index) => {
    if (typeof id !== 'string' || ids.indexOf(id) === index) return [];
    return [{ path: paths[index] ?? [], message: `another rule already has the id "${id}"` }];
  });
}

/** Custom runners need a command. Built-in runners have one, and accept additional arguments and variables. */
function checkRunnerKeys(name: string, runner: unknown): Mistake[] {
  const keys = keysAt(runner, []);
  const path = ['runners', name];
  if (name === builtIn || isBuiltInRunner(name)) {
    if (name !== builtIn && !keys.includes('command') && !keys.includes('prompt')) return [];
    return [{ path, part: 'key', message: `"${name}" is the name of a built-in runner; choose another` }];
  }
  const isIncomplete = typeof runner === 'object' && runner !== null && !keys.includes('command');
  const misplaced = keys.filter((key) => key === 'args' || key === 'env');
  return [
    ...(isIncomplete
      ? [{ path: [...path, 'command'], absent: true, message: `"${name}" needs a "command"` }]
      : []),
    ...misplaced.map((key): Mistake => {
      const message = `"${key}" is for built-in runners; put it into "command"`;
      return { path: [...path, key], part: 'key', message };
    }),
  ];
}

type Path = readonly PropertyKey[];

/** Returns the keys of the mapping at a path; none if there is no mapping. */
function keysAt(data: unknown, path: Path): string[] {
  const value = valueAt(data, path);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

/** Returns the paths of the items of the list at a path; none if there is no list. */
function itemsAt(data: unknown, path: Path): Path[] {
  const value = valueAt(data, path);
  return Array.isArray(value) ? value.map((_, index) => [...path, index]) : [];
}
