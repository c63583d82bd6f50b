import path from 'node:path';
import type { BlamedHunk } from '../core/blame.js';

/** A hunk that broke the test, as runs have shown (BL-1); its file is relative to the recorded root. */
export type BrokeTest = Pick<BlamedHunk, 'file' | 'line' | 'old' | 'now'>;

/** Reverts hunks in a text. A hunk that is neither at its line nor unique in the text is left as it is. */
export function withoutBlamed(text: string, hunks: readonly BrokeTest[]): string {
  const lines = text.split('\n');
  for (const { line, old, now } of hunks.toSorted((a, b) => b.line - a.line)) {
    const at = placeOf(now, { lines, expected: line - 1 });
    if (at !== null) lines.splice(at, now.length, ...old);
  }
  return lines.join('\n');
}

/** Returns the line at which a hunk is found in a text, counted from 1; null if it is not found. */
export function lineOf({ line, now }: BrokeTest, text: string): number | null {
  const at = placeOf(now, { lines: text.split('\n'), expected: line - 1 });
  return at === null ? null : at + 1;
}

/** Files whose changes affect packages or tools in ways that no hunk shows. */
const settings = /\.(?:json|ya?ml|toml|lock)$|\.config\.\w+$/;

/**
 * Returns the words of the changed lines and file names of these hunks: code that contains one of them may have to follow the change. Null
 * if the words are not conclusive: there are no hunks, or one is in a settings file.
 */
export function blamedWords(hunks: readonly BrokeTest[]): ReadonlySet<string> | null {
  if (hunks.length === 0 || hunks.some(({ file }) => settings.test(file))) return null;
  return wordsIn(
    hunks.flatMap(({ file, old, now }) => [path.basename(file, path.extname(file)), ...old, ...now]),
  );
}

/** Returns the words of the lines that are in only one of the two texts. */
export function changedWords(was: string, is: string): ReadonlySet<string> {
  const [olds, news] = [linesOf(was), linesOf(is)];
  return wordsIn([...olds].filter((one) => !news.has(one)).concat([...news].filter((one) => !olds.has(one))));
}

function linesOf(text: string): ReadonlySet<string> {
  return new Set(text.split('\n').map((line) => line.trim()));
}

const keyword =
  /^(?:as|async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|let|new|null|of|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|yield|any|boolean|number|string|unknown)$/;

/** Returns the names and numbers in these lines, in lower case; `closes_at` and `closes-at` equal `closesAt`. */
export function wordsIn(lines: readonly string[]): ReadonlySet<string> {
  const words = [...lines.join('\n').matchAll(/[\p{L}\d_]+(?:-[\p{L}\d_]+)*/gu)].map(([word]) => word);
  const names = words
    .filter((word) => !keyword.test(word))
    .map((word) => word.replaceAll(/[_-]/g, '').toLowerCase());
  return new Set(names.filter((name) => name.length > 1));
}

/** Returns the index at which these lines start: the expected one, or the only one at which they occur; null if there is none. */
function placeOf(
  hunk: readonly string[],
  { lines, expected }: { lines: readonly string[]; expected: number },
): number | null {
  const isAt = (start: number) =>
    hunk.every((line, index) => lines[start + index]?.replace(/\r$/, '') === line);
  if (isAt(expected)) return expected;
  const starts = [...lines.keys()].filter(isAt);
  return starts.length === 1 ? (starts[0] ?? null) : null;
}
