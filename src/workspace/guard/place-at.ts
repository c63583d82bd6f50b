import type { Place } from '../../core/guard/outline.js';
import type { SourceFile } from './syntax.js';

const linesOf = new WeakMap<SourceFile, readonly string[]>();

/** A place with the text of its line; `line` counts from 1. */
export function placeAt(file: SourceFile, line: number): Place {
  const lines = linesOf.get(file) ?? file.text.split('\n');
  linesOf.set(file, lines);
  return { file: file.path, line, source: (lines[line - 1] ?? '').trim().slice(0, 200) };
}
