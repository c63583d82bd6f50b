import { removeEllipsis } from '../model/diagnosis.js';
import { announcement } from './match.js';
import { type OwnCode, findOwnPath, relativeToProject, removeSpacedRoot } from './own-frame.js';

/**
 * Positions in compiled languages, in the formats of their compilers, panics and stack traces: `./main.go:12:5`, `/srv/api/main.go:12 +0x1d`,
 * `src/main.rs:4:5`, `(com/shop/Cart.java:12)`, Maven's `Cart.java:[12,5]`, MSBuild's `Cart.cs(12,5)`, .NET's `Cart.cs:line 12`.
 */
const compiledFrame =
  /(?:(?<=[\s("'=[])|^)(?:file:\/\/)?((?:[A-Za-z]:)?[\p{L}\p{M}\p{N}_.@~+$\\/-]{1,300}\.(?:go|rs|java|kts?|scala|groovy|cs|swift))(?::(?:line )?(\d{1,7})(?::(\d{1,7}))?(?=[\s:),.]|$)|(?::\[|\()(\d{1,7}),(\d{1,7})[\])])/gmu;

const phpFile = String.raw`((?:[A-Za-z]:)?[^\s:*?"'<>|()]{1,300}\.(?:php|phtml))`;
/**
 * Positions in PHP files: `/srv/src/Cart.php:31` on a line of its own, `in /srv/src/Cart.php:31`, `in /srv/src/Cart.php on line 31`, `#0
 * /srv/src/Cart.php(31): total()`.
 */
const phpFrame = new RegExp(
  String.raw`(?:\bin |^)${phpFile}(?::| on line )(\d{1,7})|^#\d{1,4} ${phpFile}\((\d{1,7})\)`,
  'gm',
);

/** Code of a dependency. The standard libraries and caches of these languages are outside of the project anyway. */
const dependencyPath = /(?:^|\/)(?:vendor|node_modules)\//;
/** A JVM stack names a file without its folder. `project-paths.ts` adds the folders of the project's files, so a file without one is a library's. */
const bareFileName = /^[^/]+\.(?:java|kts?|scala|groovy)$/;

/** A position in code. */
export interface CodePosition {
  /** The file as the text names it, with forward slashes. */
  readonly file: string;
  /** The line, and the column if the text gives one: `12` or `12:5`. */
  readonly at: string;
  /** Offsets of the file's name in the text. */
  readonly start: number;
  readonly end: number;
}

/** Returns the positions in code of compiled languages that a text names, in order. */
export function findCompiledPositions(text: string): CodePosition[] {
  return findPositions(text, compiledFrame);
}

/** The capture groups of `pattern` must be the file, the line and, if there is one, the column. */
function findPositions(text: string, pattern: RegExp): CodePosition[] {
  return [...text.matchAll(pattern)].map((match) => {
    const [file = '', ...at] = match.slice(1).filter((part) => part !== undefined);
    const start = match.index + match[0].indexOf(file);
    return { file: file.replaceAll('\\', '/'), at: at.join(':'), start, end: start + file.length };
  });
}

/**
 * Finds the position of an error in the user's own code from a server's output, as `path:line` or `path:line:column` relative to the project; null
 * if there is none. In Python it is the last position in the traceback above the error's line, in other languages the first one in or below that
 * line.
 */
export function findServerFrame(text: string, line: string, code: OwnCode): string | null {
  const tracebackFrame = findTracebackFrame(text, line, code);
  if (tracebackFrame !== null) return tracebackFrame;
  const stack = removeSpacedRoot(findTextBelow(text, line), code.rootDir);
  for (const { file, at } of [...findPositions(stack, compiledFrame), ...findPositions(stack, phpFrame)]) {
    const path = relativeToProject(file, code);
    if (path !== null && !dependencyPath.test(path) && !bareFileName.test(path)) return `${path}:${at}`;
  }
  return null;
}

/** The frames above `panic(` in a Go stack: deferred functions, even of the app's own middleware. */
const aboveThePanic = /^(?:[^\n]*\n){1,3}goroutine \d{1,10} \[[^\n]*\n(?:[^\n]+\n){0,60}?(?=panic\()/;
/** How many characters after an error belong to it: a panic prints its whole stack, the frames of the standard library first. */
const MAX_STACK = 8_000;

/** Returns a text from this line, or from the line that announces it, to the end; empty if the line is not in the text. */
export function findTextBelow(text: string, line: string): string {
  const at = text.indexOf(removeEllipsis(line));
  if (at === -1) return '';
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const before = text.lastIndexOf('\n', start - 2) + 1;
  const isAnnounced = start > 0 && announcement.test(text.slice(before, start).trim());
  return text.slice(isAnnounced ? before : start, start + MAX_STACK).replace(aboveThePanic, '');
}

/** A frame of a Python traceback: `  File "/srv/shop/views.py", line 12, in index`. */
const pythonFrame = /\bFile "([^"\n]{1,300}\.\w{1,10})", line (\d{1,7})\b/;
/** Packages, and Python's own library. */
const pythonPackage = /(?:^|\/)(?:site|dist)-packages\/|\/lib\/python\d/;
const isIndented = /^[ \t]+\S/;
/** Python's line between two chained exceptions, which are one failure. */
const chainedException =
  /^(?:The above exception was the direct cause|During handling of the above exception)\b/;
/** The deciding line may be a further line of the exception's message: `DETAIL:  Key (isbn)=(1) already exists.` */
const MAX_MESSAGE_LINES = 3;
/** How many message lines may separate two chained exceptions. */
const MAX_LINES_BETWEEN = 20;

/**
 * Returns the last frame of the user's own code in the traceback above an exception's line, as `path:line` relative to the project. If there is
 * none, searches chained tracebacks (a driver's exception, and the mapper's that wraps it). Returns null if no frame is the user's.
 */
function findTracebackFrame(text: string, exception: string, code: OwnCode): string | null {
  const lines = text.split('\n');
  const printed = removeEllipsis(exception);
  let at = lines.findIndex((line) => line.includes(printed));
  while (at > 0) {
    const frame = findLastOwnFrame(listFramesAbove(lines, at), code);
    if (frame !== null) return frame;
    at = findFollowingException(lines, at);
  }
  return null;
}

/** Returns the stack frames, which are indented lines, directly above an exception's message. */
function listFramesAbove(lines: readonly string[], message: number): readonly string[] {
  let end = message;
  while (end > 0 && message - end < MAX_MESSAGE_LINES && !isIndented.test(lines[end - 1] ?? '')) end--;
  let start = end;
  while (start > 0 && isIndented.test(lines[start - 1] ?? '')) start--;
  return lines.slice(start, end);
}

function findLastOwnFrame(lines: readonly string[], code: OwnCode): string | null {
  for (const line of lines.toReversed()) {
    const [, file = '', number] = pythonFrame.exec(line) ?? [];
    const path =
      file === '' || pythonPackage.test(file) ? null : findOwnPath(file.replaceAll('\\', '/'), code);
    if (path !== null) return `${path}:${number}`;
  }
  return null;
}

/** Returns the index of the exception that is chained to the one at `index`; -1 if there is none. */
function findFollowingException(lines: readonly string[], index: number): number {
  const announced = lines
    .slice(index + 1, index + MAX_LINES_BETWEEN)
    .findIndex((line) => chainedException.test(line));
  if (announced === -1) return -1;
  const heading = index + 1 + announced + 2;
  return lines.findIndex((line, at) => at > heading && !isIndented.test(line));
}
