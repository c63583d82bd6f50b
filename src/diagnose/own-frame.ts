import { decoded, splitUrl } from '../urls.js';

const frame =
  /(?:at |@|\(|^|\s|─\[)((?:file:\/\/|https?:\/\/|webpack(?:-internal)?:\/\/)?(?:\/?[A-Za-z]:(?=[\\/]))?(?:[^\s():─]|\([\w.-]{1,60}\)\/){0,300}(?::\d{1,5}(?=\/)[^\s():]{1,300})?\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?)(?:\?[^\s():]{0,200})?):(\d{1,7}|\?)(?::(\d{1,7}|\?)|(?=\)))/g;
const foreign =
  /(?:^|\/)(?:node_modules|\.yarn)\/|\/\.vite\/deps\/|^node:|\/internal\/|^internal\/|\/playwright(?:-core)?\/lib\//;
/** Bundles are not the user's source; without a source map, their positions mean nothing. */
const bundled =
  /^(?:assets|_next|static|_nuxt|_app|dist|build|chunks|@vite|@id|@react-refresh)\/|[.-][\da-f]{8,}\.m?js$|\.chunk\.js$/i;

/** What is needed to decide whether a frame is in the user's own code. */
export interface OwnCode {
  readonly rootDir: string;
  readonly workspaceDir?: string | undefined;
  readonly own: (url: string) => boolean;
}

/** Returns the first frame of the user's own code in a stack, as `path:line:column`, `path:line` or `path` relative to the project, or null. */
export function firstOwnFrame(stack: string, code: OwnCode): string | null {
  for (const [, address = '', line, column] of withoutSpacedRoot(stack, code.rootDir).matchAll(frame)) {
    const path = ownPath(address.replaceAll('\\', '/'), code);
    // The line is unknown if other code than the file's had run.
    if (path !== null && line === '?') return path;
    if (path !== null) return column === undefined ? `${path}:${line}` : `${path}:${line}:${column}`;
  }
  return null;
}

/** Removes a root path that contains whitespace, at which patterns of frames stop. */
export function withoutSpacedRoot(text: string, rootDir: string): string {
  return /\s/.test(rootDir) ? text.replaceAll(`${rootDir}/`, '').replaceAll(`${rootDir}\\`, '') : text;
}

/** Returns the path of a file that a text names, relative to the project if it is the user's own; else null. */
export function ownPath(address: string, code: OwnCode): string | null {
  if (foreign.test(address)) return null;
  if (/^https?:/.test(address)) return code.own(address) ? servedPath(address, code) : null;
  const file = address
    .replace(/^webpack(?:-internal)?:\/\/[^/]*\/(?:\([\w.-]{1,60}\)\/)?(?:\.\/)?/, '')
    .replace(/^file:\/\/(?:\/(?=[A-Za-z]:))?(.*)$/, (_, encoded: string) => decoded(encoded))
    // Vite's part of a component file: `Cart.vue?vue&type=script&lang.ts`.
    .replace(/\?.*$/, '');
  return within(file, code);
}

/** Development servers serve source files under their path in the project; `/@fs/` is followed by an absolute path. */
function servedPath(address: string, code: OwnCode): string | null {
  const served = decoded((splitUrl(address)?.path ?? '').replace(/\?.*$/, ''));
  if (served.startsWith('/@fs/')) return within(served.slice(4), code);
  const relative = served.slice(1);
  return relative === '' || bundled.test(relative) ? null : relative;
}

/**
 * Returns a file's path, with `/`, relative to the project. That of a file in another package of its workspace begins with `../`; null if it is
 * outside of the workspace.
 */
export function within(
  file: string,
  { rootDir, workspaceDir = rootDir }: Pick<OwnCode, 'rootDir' | 'workspaceDir'>,
): string | null {
  const isAbsolute = /^(?:\/|[A-Za-z]:\/)/.test(file);
  if (!isAbsolute && !file.startsWith('../')) return file.replace(/^\.\//, '');
  const [root, workspace] = [namesIn(rootDir), namesIn(workspaceDir)];
  const names = namesIn(isAbsolute ? file : `${rootDir}/${file}`);
  if (shared(workspace, names) < workspace.length) return null;
  const same = shared(root, names);
  return [...root.slice(same).map(() => '..'), ...names.slice(same)].join('/');
}

/** Returns the names in an absolute path, after resolving `..`. */
function namesIn(file: string): string[] {
  const names: string[] = [];
  for (const name of file.replaceAll('\\', '/').replace(/\/$/, '').split('/'))
    if (name === '..') names.pop();
    else names.push(name);
  return names;
}

/** Returns how many names two paths have in common from the start. */
function shared(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((name, index) => name !== b[index]);
  return at === -1 ? a.length : at;
}
