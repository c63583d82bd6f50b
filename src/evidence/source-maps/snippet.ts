import { clipMiddle } from '../clip.js';

const around = 2;
const longestLine = 200;

/** The lines around a position (from 1) of a text, numbered, the line itself marked with `>`; null where there is no such line. */
export function snippetOf(text: string, line: number): string | null {
  const lines = text.split(/\r\n?|\n/);
  if (line < 1 || line > lines.length) return null;
  const first = Math.max(1, line - around);
  const last = Math.min(lines.length, line + around);
  const width = String(last).length;
  return lines
    .slice(first - 1, last)
    .map((content, at) => {
      const n = first + at;
      const shown = clipMiddle(content, longestLine).text.replaceAll('\n', ' ');
      return `${n === line ? '>' : ' '} ${String(n).padStart(width)} | ${shown}`.trimEnd();
    })
    .join('\n');
}
