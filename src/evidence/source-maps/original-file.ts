import path from 'node:path';
import { decoded } from '../../urls.js';
import { visibleText } from '../../visible-text.js';
import { filePath, pathEnds, urlOf } from './find-map.js';
import type { ProjectFiles } from '../project-files.js';

/** A source that a map names. */
export interface OriginalFile {
  /** Relative to the project's root, with `/`, if the file is in its workspace; otherwise the path from the map. */
  readonly name: string;
  /** Whether it is the user's own code: in the project, and not part of a package or a bundler's runtime. */
  readonly own: boolean;
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
const longest = 500;

/**
 * Finds the project's file for a source of a map, by its name and, if the map has it, its text (`content`), which tells files of the same name
 * apart. Null if the name cannot be a file's.
 */
export function originalFile(
  source: string,
  content: string | null,
  files: ProjectFiles,
): OriginalFile | null {
  const named = namedPath(source, files);
  // A source without a name resolves to the folder of its map.
  if (!named || named.length > longest || named.endsWith('/')) return null;
  if (visibleText(named) !== named || /[\t\n]/.test(named)) return null;
  const isCode = code.test(named) && !foreign.test(named);
  const file = isCode ? sourceFile(named, content, files) : null;
  const name = files.relative(file ?? path.resolve(files.root, named)) ?? named;
  const leadsOut = path.isAbsolute(name) || /^(?:\.\.\/|[A-Za-z]:)/.test(name);
  return { name, own: isCode && (file !== null || !leadsOut), file };
}

/** A map made elsewhere (in a container, for example) has that machine's paths: only a file with the same text is its source then. */
function sourceFile(named: string, content: string | null, files: ProjectFiles): string | null {
  const isSame = (file: string) => content !== null && files.text(file) === content;
  const atPath = files.find(named);
  if (atPath !== null && (content === null || isSame(atPath))) return atPath;
  const same = pathEnds(named)
    .flatMap((end) => files.ending(end))
    .find(isSame);
  return files.find(same ?? atPath ?? (path.isAbsolute(named) ? null : files.only(named)));
}

function namedPath(source: string, files: ProjectFiles): string | null {
  const plain = source.replaceAll('\\', '/');
  const url = urlOf(plain);
  if (url?.protocol === 'file:') return filePath(url);
  if (url === null) return normalized(plain.replace(bundlers, '').replace(layer, '').replace(/\?.*$/, ''));
  const served = decoded(url.pathname);
  if (served.startsWith('/@fs/')) return served.slice(4);
  return files.relative(served) === null ? normalized(served.slice(1)) : served;
}

function normalized(file: string): string {
  return path.posix.normalize(file).replace(/^\.\//, '');
}
