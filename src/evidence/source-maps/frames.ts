import path from 'node:path';

/** A code position in a text. */
export interface Frame {
  /** The file as the text names it: a URL, an absolute path, or a bundler's own address. */
  readonly address: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, as every engine prints it. */
  readonly column: number;
  /** Offset of `address:line:column` in the text. */
  readonly start: number;
  readonly end: number;
}

const position = /:(\d{1,7}):(\d{1,9})(?![\d:\]/])/g;
const MAX_ADDRESS = 2_048;
/**
 * React wraps server frames: `rsc://React/Server/webpack-internal:///(rsc)/./page.tsx`. The last scheme is the
 * file's.
 */
const scheme = /[a-z][a-z\d+.-]{1,30}:\/\//gi;
const windowsPath = /(?:^|[\s(@'"])([A-Za-z]:[\\/])/;

/** Built code that a tool names relative to the project's root. */
const relativeBuiltCode = /(?<=^|[\s"'`(])(?:\.\/)?(?:[\w.@+-]{1,100}\/){1,20}[\w.@+-]{1,100}\.[cm]?js$/;

/**
 * Finds the positions in a text that have an absolute address, in order: frames of V8 (`at f (url:1:2)`, `at async
 * url:1:2`, `eval at …`), of Firefox and Safari (`f@url:1:2`), and bare locations; with a `root`, also positions in built code
 * relative to it. Skips frames whose code has no file (`<anonymous>:1:2`, Firefox's `line 3 > eval:1:2`). Linear in the text's length.
 */
export function findFrames(text: string, root?: string): Frame[] {
  const frames: Frame[] = [];
  let from = 0;
  for (const match of text.matchAll(position)) {
    const lineStart = text.lastIndexOf('\n', match.index) + 1;
    const before = text.slice(Math.max(from, lineStart, match.index - MAX_ADDRESS), match.index);
    const absolute = findAddressStart(before, text[match.index + match[0].length] === ')');
    const at = absolute < 0 && root !== undefined ? before.search(relativeBuiltCode) : absolute;
    from = match.index + match[0].length;
    if (at < 0 || / line \d+ > (?:eval|Function)/.test(before.slice(at))) continue;
    const start = match.index - before.length + at;
    const nameInText = text.slice(start, match.index);
    const address = absolute < 0 && root !== undefined ? path.join(root, nameInText) : nameInText;
    frames.push({ address, line: Number(match[1]), column: Number(match[2]), start, end: from });
  }
  return frames;
}

/**
 * Returns where the address begins in the text before its line number, or -1. Paths and bundlers' addresses may contain
 * spaces and parentheses.
 */
function findAddressStart(before: string, isClosed: boolean): number {
  const url = [...before.matchAll(scheme)].at(-1);
  if (url) return url.index;
  const windows = windowsPath.exec(before);
  if (windows) return windows.index + windows[0].length - (windows[1]?.length ?? 0);
  if (isClosed && before.includes('(/')) return before.indexOf('(/') + 1;
  const bareMatch = /(?:^|[\s@'"(])\//.exec(before);
  return bareMatch ? bareMatch.index + bareMatch[0].length - 1 : -1;
}
