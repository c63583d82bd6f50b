import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { FetchedScript } from '../../playwright/suite-run.js';
import { tryOr } from '../../result.js';
import { decodePercent } from '../../urls.js';
import { bounds } from '../bounded-text.js';
import type { ProjectFiles } from '../project-files.js';
import {
  decodeDataUrl,
  findEvaluatedMapUrl,
  findMapReference,
  resolveMapUrl,
  type ParsedMap,
  type ParsedMaps,
} from './source-map.js';

/**
 * How the code at an address maps to sources. `mapped`: through a source map. `as-written`: the file on disk runs unchanged. `unknown`: `because` is
 * the reason to report, or null if no map is expected.
 */
export type MapLookup =
  | ParsedMap
  | { readonly kind: 'as-written'; readonly file: string }
  | { readonly kind: 'unknown'; readonly because: null };

/** Where scripts, maps and sources come from. */
export interface CodeSources {
  readonly files: ProjectFiles;
  /** The scripts that were fetched from their servers, by their URLs without a fragment. */
  readonly scripts: ReadonlyMap<string, FetchedScript>;
  readonly maps: ParsedMaps;
}

const sourceExtension = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i;
const scriptExtension = /\.[cm]?js$/i;
const noMapExpected: MapLookup = { kind: 'unknown', because: null };

/** Finds the source map of the code at an address: inline in the script, at the URL that the script names, or next to the script. Never throws. */
export function findMap(address: string, sources: CodeSources): MapLookup {
  if (address.startsWith('webpack-internal:')) return findEvaluatedMap(address, sources);
  const url = parseUrl(address);
  if (url?.protocol.startsWith('http')) return findServedMap(url, sources);
  const { files } = sources;
  const file = files.resolveFile(url ? toFilePath(url) : path.normalize(address));
  if (file === null || /[\\/]node_modules[\\/]/.test(file) || !sourceExtension.test(file))
    return noMapExpected;
  const map =
    scriptExtension.test(file) &&
    readMap({ text: files.readText(file) ?? '', url: pathToFileURL(file).href }, sources);
  return map || { kind: 'as-written', file };
}

/** Finds the map of a module that a webpack bundle runs with `eval`: the bundle contains the map next to the module's name. */
function findEvaluatedMap(address: string, { scripts, maps }: CodeSources): MapLookup {
  // React numbers the frames that it forwards from a server: `…/page.tsx?7`.
  for (const name of [address, address.replace(/\?.*$/, '')])
    for (const { text } of scripts.values()) {
      const url = findEvaluatedMapUrl(text, name);
      if (url !== null) return maps.parse(decodeDataUrl(url), null);
    }
  return { kind: 'unknown', because: 'no script on the page contains a source map for this module' };
}

/** Finds the map of a page's script. The fetched text is the code that ran; a file on disk is that script only if its text is the same. */
function findServedMap(url: URL, sources: CodeSources): MapLookup {
  const { files, scripts } = sources;
  const fetched = scripts.get(url.href);
  const map = fetched && readMap(fetched, sources);
  if (map) return map;
  const name = decodePercent(url.pathname).replace(/^\/@fs(?=\/)/, '');
  const suffixes = scriptExtension.test(name) ? listPathSuffixes(name) : [];
  const file =
    files.resolveFile(name) ??
    suffixes.map((end) => files.findOnlyFileEndingWith(end)).find((match) => match !== null) ??
    null;
  if (file !== null && (!fetched || files.readText(file) === fetched.text))
    return { kind: 'as-written', file };
  return fetched
    ? { kind: 'unknown', because: 'the script names no map, and there is none next to it' }
    : noMapExpected;
}

/** Returns all suffixes of a path, the longest first, because its first folders may belong to another machine or be a server's base path. */
export function listPathSuffixes(name: string): string[] {
  const parts = name.split('/').filter((part) => !/^\.{0,2}$/.test(part));
  return parts.map((_, at) => parts.slice(at).join('/'));
}

/** Reads the map of a script; null if it has none. `map` is the text that its server sent, and absent for a script on disk. */
function readMap(
  { text, url, map }: Pick<FetchedScript, 'text' | 'url'> & Partial<FetchedScript>,
  { files, maps }: CodeSources,
): ParsedMap | null {
  const address = resolveMapUrl(text, url);
  if (address === null) return null;
  if (address.startsWith('data:')) return maps.parse(decodeDataUrl(address), url);
  if (map) return maps.parse(map, address);
  // If a script names its map by a remote URL, the map is usually also next to the script.
  for (const candidate of map === undefined ? [address, `${url}.map`] : []) {
    const file = files.resolveFile(toFilePath(new URL(candidate)));
    const content = file && files.readText(file, bounds.sourceMap);
    if (file && content !== null) return maps.parse(content, pathToFileURL(file).href);
  }
  return findMapReference(text) === null
    ? null
    : { kind: 'unknown', because: 'the file that the script names does not exist, or is too large' };
}

/** Returns an address as a URL without its fragment, or null for a path. */
export function parseUrl(address: string): URL | null {
  if (!/^(?:https?|file):/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  url.hash = '';
  return url;
}

/** Returns the path of a `file:` URL; null for another URL, or if it is not valid on this system. */
export function toFilePath(url: URL): string | null {
  return url.protocol === 'file:'
    ? tryOr(null, () => fileURLToPath(new URL(url.pathname, 'file:///')))
    : null;
}
