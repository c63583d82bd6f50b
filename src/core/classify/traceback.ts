import { asPrinted } from '../diagnosis.js';
import { type OwnCode, ownPath } from './own-frame.js';

/** A frame of a Python traceback: `  File "/srv/shop/views.py", line 12, in index`. */
const frame = /\bFile "([^"\n]{1,300}\.\w{1,10})", line (\d{1,7})\b/;
/** Packages, and Python's own library. */
const installed = /(?:^|\/)(?:site|dist)-packages\/|\/lib\/python\d/;
const isIndented = /^[ \t]+\S/;
/** How Python introduces the exception that followed the one above; both stand for one failure. */
const chained = /^(?:The above exception was the direct cause|During handling of the above exception)\b/;
/** The deciding line may be a further line of the exception's message: `DETAIL:  Key (isbn)=(1) already exists.` */
const mostMessageLines = 3;
/** How many lines of an exception's message may come before the one that followed it. */
const mostLinesBetween = 20;

/**
 * Returns the place where an exception left the user's own code, as `path:line` relative to the project: the last such frame of the
 * traceback above the exception's line, or else of the tracebacks that Python chained to it (a driver's exception, and the mapper's
 * that wraps it). Null if the line has no traceback above it, or none of its frames is the user's.
 */
export function tracebackFrame(text: string, exception: string, code: OwnCode): string | null {
  const lines = text.split('\n');
  const said = asPrinted(exception);
  let at = lines.findIndex((line) => line.includes(said));
  while (at > 0) {
    const place = lastOwnFrame(framesAbove(lines, at), code);
    if (place !== null) return place;
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
    const [, file = '', number] = frame.exec(line) ?? [];
    const path = file === '' || installed.test(file) ? null : ownPath(file.replaceAll('\\', '/'), code);
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
