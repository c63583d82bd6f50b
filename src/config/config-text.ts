import { stringify } from 'yaml';
import type { EffectiveValue, Origin } from './effective-settings.js';
import { treeOf } from './tree.js';
import { unreachable } from '../core/unreachable.js';

/** The column at which comments begin, unless the line is longer. */
const COMMENT_COLUMN = 44;

/** Renders the effective settings as an equivalent agents.yaml, with the origin of each value in a comment (CF-4). */
export function configYaml(values: readonly EffectiveValue[]): string {
  let above: readonly string[] = [];
  const lines = values.flatMap((one) => {
    const parents = one.path.slice(0, -1);
    const shared = parents.findIndex((key, depth) => above[depth] !== key);
    const from = shared === -1 ? parents.length : shared;
    const heads = parents.slice(from).map((key, index) => `${indent(from + index)}${inline(key)}:`);
    above = one.path;
    return [...heads, lineOf(one)];
  });
  return `${['version: 1', ...lines].join('\n')}\n`;
}

/** Returns the effective settings as plain data, for a JSON document. */
export function configJson(values: readonly EffectiveValue[]): object {
  const origins = values.map(({ path, origin }) => ({ path, ...origin }));
  return { config: { version: 1, ...treeOf(values) }, origins };
}

function lineOf({ path, value, origin }: EffectiveValue): string {
  const key = `${indent(path.length - 1)}${inline(path.at(-1))}:`;
  // A key without a value is invalid in agents.yaml, so settings without a value are written as comments.
  if (value === null) return comment(`${indent(path.length - 1)}# ${inline(path.at(-1))}: not set`, origin);
  return comment(`${key} ${inline(value)}`, origin);
}

function comment(text: string, origin: Origin): string {
  return `${text.padEnd(COMMENT_COLUMN)} # ${describe(origin)}`;
}

function describe(origin: Origin): string {
  switch (origin.from) {
    case 'environment':
      return `environment ${origin.variable}`;
    case 'file':
      return `${origin.file.replaceAll(/\s+/g, ' ')}:${origin.line}`;
    case 'default':
      return 'default';
    case 'project':
      return 'default: package.json, or the folder';
    case 'setting':
      return `default: as ${origin.setting}`;
    default:
      return unreachable(origin);
  }
}

/** Renders any value on one line of YAML. */
function inline(value: unknown): string {
  const text = stringify(value, {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
    ...(typeof value === 'string' && /[\r\n]/.test(value) ? { defaultStringType: 'QUOTE_DOUBLE' } : {}),
  }).trim();
  return text.includes('\n') ? JSON.stringify(value) : text;
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}
