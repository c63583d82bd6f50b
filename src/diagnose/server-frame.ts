import { asPrinted } from '../model/diagnosis.js';
import { announcement } from './match.js';
import { type OwnCode, ownPath, within, withoutSpacedRoot } from './own-frame.js';

/**
 * Positions in compiled languages, as their compilers, panics and stack traces name them: `./main.go:12:5`, `/srv/api/main.go:12 +0x1d`,
 * `src/main.rs:4:5`, `(com/shop/Cart.java:12)`, Maven's `Cart.java:[12,5]`, MSBuild's `Cart.cs(12,5)`, .NET's `Cart.cs:line 12`.
 */
const compiledFrame =
  /(?:(?<=[\s("'=[])|^)(?:file:\/\/)?((?:[A-Za-z]:)?[\p{L}\p{M}\p{N}_.@~+$\\/-]{1,300}\.(?:go|rs|java|kts?|scala|groovy|cs|swift))(?::(?:line )?(\d{1,7})(?::(\d{1,7}))?(?=[\s:),.]|$)|(?::\[|\()(\d{1,7}),(\d{1,7})[\])])/gmu;

const php = String.raw`((?:[A-Za-z]:)?[^\s:*?"'<>|()]{1,300}\.(?:php|phtml))`;
/** Positions in PHP: `/srv/src/Cart.php:31` on a line of its own, `in /srv/src/Cart.php:31`, `in /srv/src/Cart.php on line 31`, `#0 /srv/src/Cart.php(31): total()`. */
const phpFrame = new RegExp(
  String.raw`(?:\bin |^)${php}(?::| on line )(\d{1,7})|^#\d{1,4} ${php}\((\d{1,7})\)`,
  'gm',
);

/** Code of a dependency; the standard libraries and caches of these languages are outside of the project. */
const installed = /(?:^|\/)(?:vendor|node_modules)\//;
/** A stack of the JVM names a file without its folder. `project-paths.ts` adds the folder, so a file without one is a library's. */
const withoutFolder = /^[^/]+\.(?:java|kts?|scala|groovy)$/;

/** A position in code. */
export interface CodePosition {
  /** The file as the text names it, with `/`. */
  readonly file: string;
  /** The line, and the column if the text gives one: `12` or `12:5`. */
  readonly at: string;
  /** Offsets of the file's name in the text. */
  readonly start: number;
  readonly end: number;
}

/** Returns the positions in code of compiled languages that a text names, in order. */
export function compiledPositions(text: string): CodePosition[] {
  return positionsIn(text, compiledFrame);
}

/** The groups of a pattern that take part in a match are the file, its line and, if there is one, the column. */
function positionsIn(text: string, pattern: RegExp): CodePosition[] {
  return [...text.matchAll(pattern)].map((match) => {
    const [file = '', ...at] = match.slice(1).filter((part) => part !== undefined);
    const start = match.index + match[0].indexOf(file);
    return { file: file.replaceAll('\\', '/'), at: at.join(':'), start, end: start + file.length };
  });
}

/**
 * Returns the position in the user's own code that a server's output names for an error, as `path:line` or `path:line:column` relative to the
 * project; null if there is none. In Python it is the last one in the traceback above the error's line, in other languages the first one in or
 * below that line.
 */
export function serverFrame(text: string, line: string, code: OwnCode): string | null {
  const traced = tracebackFrame(text, line, code);
  if (traced !== null) return traced;
  const stack = withoutSpacedRoot(below(text, line), code.rootDir);
  for (const { file, at } of [...positionsIn(stack, compiledFrame), ...positionsIn(stack, phpFrame)]) {
    const path = within(file, code);
    if (path !== null && !installed.test(path) && !withoutFolder.test(path)) return `${path}:${at}`;
  }
  return null;
}

/** Go lists first what a panic ran: the deferred functions of the app's own middleware, too. */
const aboveThePanic = /^(?:[^\n]*\n){1,3}goroutine \d{1,10} \[[^\n]*\n(?:[^\n]+\n){0,60}?(?=panic\()/;
/** How many characters below an error belong to it: a panic prints its whole stack, with the frames of the language's own library first. */
const longestStack = 8_000;

/** Returns a text from one of its lines on, or from the line that announces it; empty if the line is not in it. */
export function below(text: string, line: string): string {
  const at = text.indexOf(asPrinted(line));
  if (at === -1) return '';
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const before = text.lastIndexOf('\n', start - 2) + 1;
  const isAnnounced = start > 0 && announcement.test(text.slice(before, start).trim());
  return text.slice(isAnnounced ? before : start, start + longestStack).replace(aboveThePanic, '');
}

/** A frame of a Python traceback: `  File "/srv/shop/views.py", line 12, in index`. */
const pythonFrame = /\bFile "([^"\n]{1,300}\.\w{1,10})", line (\d{1,7})\b/;
/** Packages, and Python's own library. */
const pythonPackage = /(?:^|\/)(?:site|dist)-packages\/|\/lib\/python\d/;
const isIndented = /^[ \t]+\S/;
/** How Python introduces the exception that followed the one above; both stand for one failure. */
const chained = /^(?:The above exception was the direct cause|During handling of the above exception)\b/;
/** The deciding line may be a further line of the exception's message: `DETAIL:  Key (isbn)=(1) already exists.` */
const mostMessageLines = 3;
/** How many lines of an exception's message may come before the exception that followed it. */
const mostLinesBetween = 20;

/**
 * Returns the last frame of the user's own code in the traceback above an exception's line, as `path:line` relative to the project. If there
 * is none, looks in the tracebacks that Python chained to it (a driver's exception, and the mapper's that wraps it). Returns null if no frame
 * is the user's.
 */
function tracebackFrame(text: string, exception: string, code: OwnCode): string | null {
  const lines = text.split('\n');
  const printed = asPrinted(exception);
  let at = lines.findIndex((line) => line.includes(printed));
  while (at > 0) {
    const frame = lastOwnFrame(framesAbove(lines, at), code);
    if (frame !== null) return frame;
    at = followingException(lines, at);
  }
  return null;
}

/** Returns the indented lines that end above a line or the first lines of its message. */
function framesAbove(lines: readonly string[], below: number): readonly string[] {
  let end = below;
  while (end > 0 && below - end < mostMessageLines && !isIndented.test(lines[end - 1] ?? '')) end--;
  let start = end;
  while (start > 0 && isIndented.test(lines[start - 1] ?? '')) start--;
  return lines.slice(start, end);
}

function lastOwnFrame(lines: readonly string[], code: OwnCode): string | null {
  for (const line of lines.toReversed()) {
    const [, file = '', number] = pythonFrame.exec(line) ?? [];
    const path = file === '' || pythonPackage.test(file) ? null : ownPath(file.replaceAll('\\', '/'), code);
    if (path !== null) return `${path}:${number}`;
  }
  return null;
}

/** Returns the index of the exception's line whose traceback is chained to the exception at `index`; -1 if there is none. */
function followingException(lines: readonly string[], index: number): number {
  const announced = lines.slice(index + 1, index + mostLinesBetween).findIndex((line) => chained.test(line));
  if (announced === -1) return -1;
  const heading = index + 1 + announced + 2;
  return lines.findIndex((line, at) => at > heading && !isIndented.test(line));
}
