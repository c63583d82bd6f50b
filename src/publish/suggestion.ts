import { createHash } from 'node:crypto';
import { fenceFor } from '../core/fenced.js';
import { visibleText } from '../core/visible-text.js';
import type { Replacement } from './fix.js';

/** Whether a person sees all of what they would accept: a text with hidden or reordered characters is not suggested. */
export function isPlain({ lines }: Replacement): boolean {
  const text = lines.join('\n');
  return visibleText(text) === text;
}

/** Returns a comment that nobody sees, by which a suggestion is recognized. */
export function keyOf(one: Replacement): string {
  const hash = createHash('sha256').update(JSON.stringify(one)).digest('hex').slice(0, 16);
  return `<!-- self-heal suggestion ${hash} -->`;
}

/** Renders a suggestion, which the forge offers to commit. Nothing in the lines can close its block. */
export function suggestionText(one: Replacement, tag: string): string {
  const fence = fenceFor(one.lines.join('\n'));
  return [keyOf(one), `${fence}${tag}`, ...one.lines, fence].join('\n');
}
