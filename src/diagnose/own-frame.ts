import { decodePercent, splitUrl } from '../urls.js';

const framePattern =
  /(?:at |@|\(|^|\s|─\[)((?:file:\/\/|https?:\/\/|webpack(?:-internal)?:\/\/)?(?:\/?[A-Za-z]:(?=[\\/]))?(?:[^\s():─]|\([\w.-]{1,60}\)\/){0,300}(?::\d{1,5}(?=\/)[^\s():]{1,300})?\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx?)(?:\?[^\s():]{0,200})?):(\d{1,7}|\?)(?::(\d{1,7}|\?)|(?=\)))/g;
const foreignPath =
  /(?:^|\/)(?:node_modules|\.yarn)\/|\/\.vite\/deps\/|^node:|\/internal\/|^internal\/|\/playwright(?:-core)?\/lib\//;
/** Bundles are not the user's source; without a source map, their positions are useless. */
const bundledPath =
  /^(?:assets|_next|static|_nuxt|_app|dist|build|chunks|@vite|@id|@react-refresh)\/|[.-][\da-f]{8,}\.m?js$|\.chunk\.js$/i;

/** The facts that decide whether a frame is in the user's own code. */
export interface OwnCode {
  readonly rootDir: string;
  readonly workspaceDir?: string | undefined;
  readonly isOwnUrl: (url: string) => boolean;
}

/** Returns the first frame of the user's own code in a stack, as `path:line:column`, `path:line` or `path` relative to the project, or null. */
export function findOwnFrame(stack: string, code: OwnCode): string | null {
  for (const [, address = '', line, column] of removeSpacedRoot(stack, code.rootDir).matchAll(framePattern)) {
    const path = findOwnPath(address.replaceAll('\\', '/'), code);
    // The line is `?` if the code that ran differs from the file.
    if (path !== null && line === '?') return path;
    if (path !== null) return column === undefined ? `${path}:${line}` : `${path}:${line}:${column}`;
  }
  return null;
}

/** Removes a root path that contains whitespace, because the frame patterns stop at whitespace. */
export function removeSpacedRoot(text: string, rootDir: string): string {
  return /\s/.test(rootDir) ? text.replaceAll(`${rootDir}/`, '').replaceAll(`${rootDir}\\`, '') : text;
}

/** Returns a file's path relative to the project; null if it is not the user's own code. */
export function findOwnPath(address: string, code: OwnCode): string | null {
  if (foreignPath.test(address)) return null;
  if (/^https?:/.test(address)) return code.isOwnUrl(address) ? resolveServedPath(address, code) : null;
  const file = address
    .replace(/^webpack(?:-internal)?:\/\/[^/]*\/(?:\([\w.-]{1,60}\)\/)?(?:\.\/)?/, '')
    .replace(/^file:\/\/(?:\/(?=[A-Za-z]:))?(.*)$/, (_, encoded: string) => decodePercent(encoded))
    // Vite's part of a component file: `Cart.vue?vue&type=script&lang.ts`.
    .replace(/\?.*$/, '');
  return relativeToProject(file, code);
}

/** Development servers serve source files under their path in the project; `/@fs/` is followed by an absolute path. */
function resolveServedPath(address: string, code: OwnCode): string | null {
  const served = decodePercent((splitUrl(address)?.path ?? '').replace(/\?.*$/, ''));
  if (served.startsWith('/@fs/')) return relativeToProject(served.slice(4), code);
  const relative = served.slice(1);
  return relative === '' || bundledPath.test(relative) ? null : relative;
}

/**
 * Returns a file's path, with `/`, relative to the project. For a file in another package of the workspace, it begins with `../`; null for a file
 * outside of the workspace.
 */
export function relativeToProject(
  file: string,
  { rootDir, workspaceDir = rootDir }: Pick<OwnCode, 'rootDir' | 'workspaceDir'>,
): string | null {
  const isAbsolute = /^(?:\/|[A-Za-z]:\/)/.test(file);
  if (!isAbsolute && !file.startsWith('../')) return file.replace(/^\.\//, '');
  const [root, workspace] = [splitPath(rootDir), splitPath(workspaceDir)];
  const names = splitPath(isAbsolute ? file : `${rootDir}/${file}`);
  if (countSharedNames(workspace, names) < workspace.length) return null;
  const sharedCount = countSharedNames(root, names);
  return [...root.slice(sharedCount).map(() => '..'), ...names.slice(sharedCount)].join('/');
}

/** Returns the names in an absolute path, after resolving `..`. */
function splitPath(file: string): string[] {
  const names: string[] = [];
  for (const name of file.replaceAll('\\', '/').replace(/\/$/, '').split('/'))
    if (name === '..') names.pop();
    else names.push(name);
  return names;
}

/** Counts the leading names that two paths share. */
function countSharedNames(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((name, index) => name !== b[index]);
  return at === -1 ? a.length : at;
}
