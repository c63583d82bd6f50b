import { clipMiddle } from '../clip.js';

const around = 2;
const longestLine = 200;

/**
 * Returns the numbered lines around a position (line and column from 1), its own line marked with `>` and, if it is
 * long, cut to what surrounds the column; null if there is no such line.
 */
export function snippetOf(text: string, line: number, column: number): string | null {
  const lines = text.split(/\r\n?|\n/);
  if (line < 1 || line > lines.length) return null;
  const first = Math.max(1, line - around);
  const last = Math.min(lines.length, line + around);
  const width = String(last).length;
  return lines
    .slice(first - 1, last)
    .map((content, at) => {
      const n = first + at;
      const part = n === line ? aroundColumn(content, column) : clipMiddle(content, longestLine).text;
      const shown = part.replaceAll('\n', ' ');
      return `${n === line ? '>' : ' '} ${String(n).padStart(width)} | ${shown}`.trimEnd();
    })
    .join('\n');
}

function aroundColumn(content: string, column: number): string {
  if (content.length <= longestLine) return content;
  const from = Math.max(0, Math.min(column - longestLine / 2, content.length - longestLine));
  const part = content.slice(from, from + longestLine);
  return `${from > 0 ? '…' : ''}${part}${from + longestLine < content.length ? '…' : ''}`;
}
