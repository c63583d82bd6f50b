import path from 'node:path';
import { decodePercent } from '../../urls.js';
import { visibleText } from '../../visible-text.js';
import { filePath, listPathEnds, urlOf } from './find-map.js';
import type { ProjectFiles } from '../project-files.js';

/** A source that a map names. */
export interface OriginalFile {
  /** Relative to the project's root, with `/`, if the file is in its workspace; otherwise the path from the map. */
  readonly name: string;
  /** True for the user's own code: in the project, and not part of a package or a bundler's runtime. */
  readonly isOwn: boolean;
  /** The file's path on this machine, or null. */
  readonly file: string | null;
}

/** `webpack://app/./src/a.tsx?abcd`, `webpack-internal:///(rsc)/./src/a.tsx`, `turbopack:///[project]/src/a.tsx`. */
const bundlers = /^(?:webpack|webpack-internal|turbopack|rollup|rspack|ng|app|vite):\/\/[^/]*\//;
const layer = /^(?:\/?\([\w.-]{1,60}\)\/(?=\.)|\/?\[[\w.-]{1,60}\]\/)/;
const foreign =
  /(?:^|\/)node_modules\/|\/?\.vite\/deps\/|(?:^|\/)\.yarn\/|^\/?\(?webpack\)?\/|^external |^virtual:|^vite\//;
/** Only these are the user's code, and only these are read for snippets: a map may name `.env`. */
const code = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx)$/i;
const MAX_CHARACTERS = 500;

/**
 * Finds the project's file for a source named in a map. The source's text, if the map has it, distinguishes files of the same name. Null if the name
 * cannot be that of a file.
 */
export function findOriginalFile(
  source: string,
  content: string | null,
  files: ProjectFiles,
): OriginalFile | null {
  const named = parseSourcePath(source, files);
  // A source without a name resolves to the folder of its map.
  if (!named || named.length > MAX_CHARACTERS || named.endsWith('/')) return null;
  if (visibleText(named) !== named || /[\t\n]/.test(named)) return null;
  const isCode = code.test(named) && !foreign.test(named);
  const file = isCode ? findSource(named, content, files) : null;
  const name = files.relative(file ?? path.resolve(files.root, named)) ?? named;
  const isOutsideWorkspace = path.isAbsolute(name) || /^(?:\.\.\/|[A-Za-z]:)/.test(name);
  return { name, isOwn: isCode && (file !== null || !isOutsideWorkspace), file };
}

/** Finds a source by its path. If the map was made on another machine (in a container, for example), only a file with the same text matches. */
function findSource(named: string, content: string | null, files: ProjectFiles): string | null {
  const hasSameText = (file: string) => content !== null && files.readText(file) === content;
  const atPath = files.find(named);
  if (atPath !== null && (content === null || hasSameText(atPath))) return atPath;
  const same = listPathEnds(named)
    .flatMap((end) => files.listFilesEndingWith(end))
    .find(hasSameText);
  return files.find(same ?? atPath ?? (path.isAbsolute(named) ? null : files.findOnlyFileEndingWith(named)));
}

function parseSourcePath(source: string, files: ProjectFiles): string | null {
  const plain = source.replaceAll('\\', '/');
  const url = urlOf(plain);
  if (url?.protocol === 'file:') return filePath(url);
  if (url === null) return normalizePath(plain.replace(bundlers, '').replace(layer, '').replace(/\?.*$/, ''));
  const served = decodePercent(url.pathname);
  if (served.startsWith('/@fs/')) return served.slice(4);
  return files.relative(served) === null ? normalizePath(served.slice(1)) : served;
}

function normalizePath(file: string): string {
  return path.posix.normalize(file).replace(/^\.\//, '');
}
