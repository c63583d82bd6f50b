import type { SourceExcerpt } from '../model/evidence.js';
import { cleanText } from './bounded-text.js';

/** A position in a source, as the evidence names it. */
export interface SourcePosition {
  readonly name: string;
  readonly line: number;
  readonly column: number | undefined;
}

const MAX_EXCERPTS = 60;

/** Collects the lines of code around the positions in one failure's evidence. */
export class SourceExcerpts {
  readonly #excerpts = new Map<string, SourceExcerpt>();

  /** Returns the excerpts in the order in which they were added; at most 60. */
  listExcerpts(): SourceExcerpt[] {
    return [...this.#excerpts.values()];
  }

  /** Adds the lines around a position, once. `generated` is the position in the built code; `text` is the file's text, or null. */
  add({ name, line, column }: SourcePosition, generated: string, text: string | null): void {
    const at = cleanText([name, line, column].filter((part) => part !== undefined).join(':'));
    if (this.#excerpts.size >= MAX_EXCERPTS || this.#excerpts.has(at)) return;
    const snippet = text === null ? null : createSnippet(text, line, column ?? 1);
    this.#excerpts.set(at, { at, generated: cleanText(generated), snippet: snippet && cleanText(snippet) });
  }
}

const LINES_AROUND = 2;
const MAX_LINE_LENGTH = 200;

/**
 * Returns the numbered lines around a position (line and column from 1) and marks the line itself with `>`; cuts a long line to the text around
 * the column. Null if there is no such line.
 */
function createSnippet(text: string, line: number, column: number): string | null {
  const lines = text.split(/\r\n?|\n/);
  if (line < 1 || line > lines.length) return null;
  const first = Math.max(1, line - LINES_AROUND);
  const last = Math.min(lines.length, line + LINES_AROUND);
  return lines
    .slice(first - 1, last)
    .map((content, index) => {
      const number = first + index;
      const isMarked = number === line;
      const part = cutAroundColumn(content, isMarked ? column : 1);
      const numbered = `${isMarked ? '>' : ' '} ${String(number).padStart(String(last).length)}`;
      return `${numbered} | ${part}`.trimEnd();
    })
    .join('\n');
}

function cutAroundColumn(content: string, column: number): string {
  if (content.length <= MAX_LINE_LENGTH) return content;
  const from = Math.max(0, Math.min(column - MAX_LINE_LENGTH / 2, content.length - MAX_LINE_LENGTH));
  const part = content.slice(from, from + MAX_LINE_LENGTH);
  return `${from > 0 ? '…' : ''}${part}${from + MAX_LINE_LENGTH < content.length ? '…' : ''}`;
}
