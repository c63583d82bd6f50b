import { splitUrl } from './own-origin.js';

const frame =
  /(?:at |@|\(|^|\s|─\[)((?:file:\/\/|https?:\/\/|webpack(?:-internal)?:\/\/)?(?:[^\s():─]|\([\w.-]{1,60}\)\/){0,300}(?::\d{1,5}(?=\/)[^\s():]{1,300})?\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?)(?:\?[^\s():]{0,200})?):(\d{1,7}):(\d{1,7})/g;
const foreign =
  /(?:^|\/)node_modules\/|\/\.vite\/deps\/|^node:|\/internal\/|^internal\/|^\.\.\/|\/playwright(?:-core)?\/lib\//;
/** Bundles are not the user's source; without a source map, their positions mean nothing. */
const bundled =
  /^(?:assets|_next|static|_nuxt|_app|dist|build|chunks|@vite|@id|@react-refresh)\/|[.-][\da-f]{8,}\.m?js$|\.chunk\.js$/i;

/**
 * Positions in compiled languages, as their compilers, panics and stack traces name them: `./main.go:12:5`, `/srv/api/main.go:12 +0x1d`,
 * `src/main.rs:4:5`, `(com/shop/Cart.java:12)`, Maven's `Cart.java:[12,5]`, MSBuild's `Cart.cs(12,5)`, .NET's `Cart.cs:line 12`.
 */
const compiledFrame =
  /(?:(?<=[\s("'=[])|^)(?:file:\/\/)?((?:[A-Za-z]:)?[\w.@~+$\\/-]{1,300}\.(?:go|rs|java|kts?|scala|groovy|cs|swift))(?::(?:line )?(\d{1,7})(?::(\d{1,7}))?(?=[\s:),.]|$)|(?::\[|\()(\d{1,7}),(\d{1,7})[\])])/gm;
/** Code of a dependency; the standard libraries and caches of these languages are outside of the project. */
const vendored = /(?:^|\/)(?:vendor|node_modules)\/|^\.\.\//;
/** A stack of the JVM names a file without its folder, and `compiled-files.ts` adds it: a file without one is a library's. */
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
  return [...text.matchAll(compiledFrame)].map((match) => {
    const [whole, file = '', line, column, lineInBrackets, columnInBrackets] = match;
    const at = [line ?? lineInBrackets, column ?? columnInBrackets].filter(Boolean).join(':');
    const start = match.index + whole.indexOf(file);
    return { file: file.replaceAll('\\', '/'), at, start, end: start + file.length };
  });
}

/** Like `firstOwnFrame`, for compiled languages: `path:line`, or `path:line:column`. */
export function firstCompiledFrame(text: string, { rootDir }: OwnCode): string | null {
  for (const { file, at } of compiledPositions(text)) {
    const isAbsolute = /^(?:\/|[A-Za-z]:)/.test(file);
    const path = isAbsolute ? within(file, rootDir) : file.replace(/^\.\//, '');
    if (path !== null && !vendored.test(path) && !withoutFolder.test(path)) return `${path}:${at}`;
  }
  return null;
}

/** What is needed to decide whether a frame is in the user's own code. */
export interface OwnCode {
  readonly rootDir: string;
  readonly own: (url: string) => boolean;
}

/** Returns the first frame of the user's own code in a stack, as `path:line:column` relative to the project, or null. */
export function firstOwnFrame(stack: string, code: OwnCode): string | null {
  // The pattern stops at whitespace, so a root path that contains some is removed first.
  const text = /\s/.test(code.rootDir) ? stack.replaceAll(`${code.rootDir}/`, '') : stack;
  for (const [, address = '', line, column] of text.matchAll(frame)) {
    const path = ownPath(address.replaceAll('\\', '/'), code);
    if (path !== null) return `${path}:${line}:${column}`;
  }
  return null;
}

/** Returns the path of a file that a text names, relative to the project if it is the user's own; else null. */
export function ownPath(address: string, { rootDir, own }: OwnCode): string | null {
  if (foreign.test(address)) return null;
  if (/^https?:/.test(address)) return own(address) ? servedPath(address, rootDir) : null;
  const path = address
    .replace(/^webpack(?:-internal)?:\/\/[^/]*\/(?:\([\w.-]{1,60}\)\/)?(?:\.\/)?/, '')
    .replace(/^file:\/\/(.*)$/, (_, encoded: string) => encoded.replaceAll('%20', ' '))
    // Vite's part of a component file: `Cart.vue?vue&type=script&lang.ts`.
    .replace(/\?.*$/, '');
  if (!path.startsWith('/') && !/^[A-Za-z]:\//.test(path)) return path.replace(/^\.\//, '');
  return within(path, rootDir);
}

/** Development servers serve source files under their path in the project; `/@fs/` is followed by an absolute path. */
function servedPath(address: string, rootDir: string): string | null {
  const path = (splitUrl(address)?.path ?? '').replace(/\?.*$/, '');
  if (path.startsWith('/@fs/')) return within(path.slice(4), rootDir);
  const relative = path.slice(1);
  return relative === '' || bundled.test(relative) ? null : relative;
}

/** Makes an absolute path with `/` relative to the project; returns null if it is outside. */
export function within(path: string, rootDir: string): string | null {
  const root = `${rootDir.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  return path.startsWith(root) ? path.slice(root.length) : null;
}
