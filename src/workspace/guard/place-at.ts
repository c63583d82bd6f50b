import type { Place } from '../../core/guard/outline.js';
import type { SourceFile } from './syntax.js';

/** A place with the text of its line. */
export function placeAt(file: SourceFile, line: number): Place {
  return { file: file.path, line, source: (file.text.split('\n')[line - 1] ?? '').trim().slice(0, 200) };
}
