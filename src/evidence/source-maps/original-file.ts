import path from 'node:path';
import { decodePercent } from '../../urls.js';
import { visibleText } from '../../visible-text.js';
import { toFilePath, listPathSuffixes, parseUrl } from './find-map.js';
import type { ProjectFiles } from '../project-files.js';

/** A source that a map names. */
export interface OriginalFile {
  /** Relative to the project's root, with `/`, if the file is in its workspace; otherwise the path from the map. */
  readonly name: string;
  /** True for the user's own code: in the project, but not part of a package or a bundler's runtime. */
  readonly isOwn: boolean;
  /** The file's path on this machine, or null. */
  readonly file: string | null;
}

/** `webpack://app/./src/a.tsx?abcd`, `webpack-internal:///(rsc)/./src/a.tsx`, `turbopack:///[project]/src/a.tsx`. */
const bundlerScheme = /^(?:webpack|webpack-internal|turbopack|rollup|rspack|ng|app|vite):\/\/[^/]*\//;
const bundlerLayer = /^(?:\/?\([\w.-]{1,60}\)\/(?=\.)|\/?\[[\w.-]{1,60}\]\/)/;
const notOwnCode =
  /(?:^|\/)node_modules\/|\/?\.vite\/deps\/|(?:^|\/)\.yarn\/|^\/?\(?webpack\)?\/|^external |^virtual:|^vite\//;
/** Only these are the user's code, and only these are read for snippets: a map may name `.env`. */
const code = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx)$/i;
const MAX_CHARACTERS = 500;

/**
 * Finds the project's file for a source that a map names. If the map has the source's text, the text distinguishes files of the same name. Null if the
 * name is not a file name.
 */
export function findOriginalFile(
  source: string,
  content: string | null,
  files: ProjectFiles,
): OriginalFile | null {
  const sourcePath = parseSourcePath(source, files);
  // A source without a name resolves to the folder of its map.
  if (!sourcePath || sourcePath.length > MAX_CHARACTERS || sourcePath.endsWith('/')) return null;
  if (visibleText(sourcePath) !== sourcePath || /[\t\n]/.test(sourcePath)) return null;
  const isCode = code.test(sourcePath) && !notOwnCode.test(sourcePath);
  const file = isCode ? findSource(sourcePath, content, files) : null;
  const name = files.toProjectPath(file ?? path.resolve(files.root, sourcePath)) ?? sourcePath;
  const isOutsideWorkspace = path.isAbsolute(name) || /^(?:\.\.\/|[A-Za-z]:)/.test(name);
  return { name, isOwn: isCode && (file !== null || !isOutsideWorkspace), file };
}

/** Finds a source by its path. If the map was made on another machine (in a container, for example), only a file with the same text matches. */
function findSource(sourcePath: string, content: string | null, files: ProjectFiles): string | null {
  const hasSameText = (file: string) => content !== null && files.readText(file) === content;
  const atPath = files.resolveFile(sourcePath);
  if (atPath !== null && (content === null || hasSameText(atPath))) return atPath;
  const matchByContent = listPathSuffixes(sourcePath)
    .flatMap((end) => files.listFilesEndingWith(end))
    .find(hasSameText);
  return files.resolveFile(
    matchByContent ??
      atPath ??
      (path.isAbsolute(sourcePath) ? null : files.findOnlyFileEndingWith(sourcePath)),
  );
}

function parseSourcePath(source: string, files: ProjectFiles): string | null {
  const slashed = source.replaceAll('\\', '/');
  const url = parseUrl(slashed);
  if (url?.protocol === 'file:') return toFilePath(url);
  if (url === null)
    return normalizePath(slashed.replace(bundlerScheme, '').replace(bundlerLayer, '').replace(/\?.*$/, ''));
  const urlPath = decodePercent(url.pathname);
  if (urlPath.startsWith('/@fs/')) return urlPath.slice(4);
  return files.toProjectPath(urlPath) === null ? normalizePath(urlPath.slice(1)) : urlPath;
}

function normalizePath(file: string): string {
  return path.posix.normalize(file).replace(/^\.\//, '');
}
