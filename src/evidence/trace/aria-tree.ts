import { bounds } from '../bounds.js';
import { field, listOf, stringOr } from '../unknown-fields.js';

const maxDepth = 64;
const states = ['level', 'checked', 'disabled', 'expanded', 'pressed', 'selected', 'active'];

/**
 * Renders an accessibility tree of a trace (JSON, since Playwright 1.63) in Playwright's YAML format for snapshots.
 * Stops once the result is long enough to be cut anyway.
 */
export function ariaYaml(tree: unknown): string {
  const lines: string[] = [];
  let room = bounds.ariaSnapshot * 4;
  const write = (node: unknown, depth: number): void => {
    if (room <= 0 || depth > maxDepth) return;
    const line = '  '.repeat(depth) + lineOf(node);
    room -= line.length;
    lines.push(line);
    for (const child of listOf(field(node, 'children'))) write(child, depth + 1);
  };
  for (const node of Array.isArray(tree) ? tree : [tree]) write(node, 0);
  return lines.join('\n');
}

function lineOf(node: unknown): string {
  if (typeof node === 'string') return `- text: ${node}`;
  const name = stringOr(field(node, 'name'), '');
  const text = stringOr(field(node, 'text'), '');
  const parts = [stringOr(field(node, 'role'), 'generic'), name && JSON.stringify(name), ...statesOf(node)];
  const colon = text || listOf(field(node, 'children')).length > 0 ? ':' : '';
  return `- ${parts.filter((part) => part !== '').join(' ')}${colon}${text && ` ${text}`}`;
}

function statesOf(node: unknown): string[] {
  return states.flatMap((name) => {
    const value = field(node, name);
    if (value === true) return [`[${name}]`];
    return typeof value === 'number' || value === 'mixed' ? [`[${name}=${value}]`] : [];
  });
}
