import path from 'node:path';
import { decoded } from '../../core/urls.js';
import { type AppFolders, pathOfFileUrl, urlOf } from './served-files.js';
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

/** A source as its map names it. */
export interface NamedSource {
  readonly name: string;
  /** The source's text according to the map, or null; distinguishes files of the same name in several apps. */
  readonly content: string | null;
}

/** Finds the project's file for a source of a map; null if its name cannot be a file's. */
export function originalFile(
  source: NamedSource,
  files: ProjectFiles,
  { apps }: AppFolders,
): OriginalFile | null {
  const named = pathNamedBy(source.name, files);
  if (named === null || !isName(named)) return null;
  const place =
    foreign.test(named) || !code.test(named) ? null : placeOf({ ...source, name: named }, files, apps);
  const name = files.relative(place ?? path.resolve(files.root, named)) ?? named;
  return { name, own: isOwnName(name) || (place !== null && !foreign.test(name)), file: place };
}

/** A source without a name resolves to the folder of its map. */
function isName(text: string): boolean {
  return text !== '' && text.length <= longest && !text.endsWith('/') && !unprintable.test(text);
}

function placeOf(
  { name: named, content }: NamedSource,
  files: ProjectFiles,
  apps: readonly string[],
): string | null {
  const places = (path.isAbsolute(named) ? [named] : apps.map((app) => path.join(app, named)))
    .map((file) => files.find(file))
    .filter((file) => file !== null);
  const isSame = (file: string): boolean => content !== null && files.text(file) === content;
  const ends = () => endsOf(named).flatMap((end) => apps.map((app) => path.join(app, end)));
  const place = places.find(isSame) ?? places[0] ?? ends().find(isSame);
  return place === undefined ? null : files.find(place);
}

/** A file that is not on disk counts as the user's own, too, unless its name leads out of the project. */
function isOwnName(name: string): boolean {
  return (
    code.test(name) && !foreign.test(name) && !path.isAbsolute(name) && !/^(?:\.\.\/|[A-Za-z]:)/.test(name)
  );
}

/**
 * Returns shorter and shorter ends of a path. A map made elsewhere (in a container, for example) has that machine's
 * paths, and one made under a base path has that (`/_nuxt/pages/index.vue`); the caller accepts only a file with the same text.
 */
function endsOf(named: string): string[] {
  const parts = named.split('/').filter((part) => part !== '' && part !== '..');
  return parts.slice(1, -1).map((_, at) => parts.slice(at + 1).join('/'));
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
