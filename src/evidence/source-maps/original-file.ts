import path from 'node:path';
import { decoded } from '../../urls.js';
import { endsOf, pathOfFileUrl, urlOf } from './find-map.js';
import type { ProjectFiles } from './project-files.js';

/** A source that a map names. */
export interface OriginalFile {
  /** Relative to the project's root, with `/`, if the file is in its workspace; otherwise the path from the map. */
  readonly name: string;
  /** Whether it is the user's own code: in the project, and not part of a package or a bundler's runtime. */
  readonly own: boolean;
  /** Where the file is in the project, or null. */
  readonly file: string | null;
}

/** `webpack://app/./src/a.tsx?abcd`, `webpack-internal:///(rsc)/./src/a.tsx`, `turbopack:///[project]/src/a.tsx`. */
const bundlers = /^(?:webpack|webpack-internal|turbopack|rollup|rspack|ng|app|vite):\/\/[^/]*\//;
const layer = /^(?:\/?\([\w.-]{1,60}\)\/(?=\.)|\/?\[[\w.-]{1,60}\]\/)/;
const foreign =
  /(?:^|\/)node_modules\/|\/?\.vite\/deps\/|(?:^|\/)\.yarn\/|^\/?\(?webpack\)?\/|^external |^virtual:|^vite\//;
/** Only these are the user's code, and only these are read for snippets: a map may name `.env`. */
const code = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx)$/i;
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/u;
const longest = 500;

/**
 * Finds the project's file for a source of a map, by its name and, if the map has it, its text (`content`), which tells files of the same name
 * apart. Null if its name cannot be a file's.
 */
export function originalFile(
  source: string,
  content: string | null,
  files: ProjectFiles,
): OriginalFile | null {
  const named = pathNamedBy(source, files);
  // A source without a name resolves to the folder of its map.
  if (!named || named.length > longest || named.endsWith('/') || unprintable.test(named)) return null;
  const file = foreign.test(named) || !code.test(named) ? null : placeOf(named, content, files);
  const name = files.relative(file ?? path.resolve(files.root, named)) ?? named;
  const leadsOut = path.isAbsolute(name) || /^(?:\.\.\/|[A-Za-z]:)/.test(name);
  const own = code.test(name) && !foreign.test(name) && (file !== null || !leadsOut);
  return { name, own, file };
}

/** A map made elsewhere (in a container, for example) has that machine's paths: only a file with the same text is its source then. */
function placeOf(named: string, content: string | null, files: ProjectFiles): string | null {
  const place = files.find(named);
  const isSame = (file: string) => content !== null && files.text(file) === content;
  if (place !== null && (content === null || isSame(place))) return place;
  const same = endsOf(named)
    .flatMap((end) => files.ending(end))
    .find((file) => isSame(file));
  return files.find(same ?? place ?? (path.isAbsolute(named) ? null : files.only(named)) ?? '\0');
}

function pathNamedBy(source: string, files: ProjectFiles): string | null {
  const plain = source.replaceAll('\\', '/');
  const url = urlOf(plain);
  if (url?.protocol === 'file:') return pathOfFileUrl(url);
  if (url === null) return normal(plain.replace(bundlers, '').replace(layer, '').replace(/\?.*$/, ''));
  const served = decoded(url.pathname);
  if (served.startsWith('/@fs/')) return served.slice(4);
  return files.relative(served) === null ? normal(served.slice(1)) : served;
}

function normal(file: string): string {
  return path.posix.normalize(file).replace(/^\.\//, '');
}
