import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { FetchedScript } from '../../playwright/suite-run.js';
import { tryOr } from '../../result.js';
import { decoded } from '../../urls.js';
import { bounds } from '../bounded-text.js';
import type { ProjectFiles } from '../project-files.js';
import {
  dataUrlText,
  evaluatedMapUrl,
  mapReferenceIn,
  mapUrlOf,
  type ParsedMap,
  type ParsedMaps,
} from './source-map.js';

/**
 * What is known about the code at an address. `mapped`: it has a source map. `as-written`: it runs unchanged from this
 * file on disk. `unknown`: `because` is what to report, or null if no map is expected.
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

const source = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i;
const script = /\.[cm]?js$/i;
const nothing: MapLookup = { kind: 'unknown', because: null };

/** Finds the source map of the code at an address: the map that its script holds or names, or that lies beside the script. Never throws. */
export function findMap(address: string, sources: CodeSources): MapLookup {
  if (address.startsWith('webpack-internal:')) return mapOfEvaluated(address, sources);
  const url = urlOf(address);
  if (url?.protocol.startsWith('http')) return mapOfServed(url, sources);
  const { files } = sources;
  const file = files.find(url ? filePath(url) : path.normalize(address));
  if (file === null || /[\\/]node_modules[\\/]/.test(file) || !source.test(file)) return nothing;
  const map =
    script.test(file) && mapOf({ text: files.text(file) ?? '', url: pathToFileURL(file).href }, sources);
  return map || { kind: 'as-written', file };
}

/** Looks up a module that a bundle evaluates: the bundle contains its map, next to its name. */
function mapOfEvaluated(address: string, { scripts, maps }: CodeSources): MapLookup {
  // React numbers the frames that it forwards from a server: `…/page.tsx?7`.
  for (const name of [address, address.replace(/\?.*$/, '')])
    for (const { text } of scripts.values()) {
      const url = evaluatedMapUrl(text, name);
      if (url !== null) return maps.parse(dataUrlText(url), null);
    }
  return { kind: 'unknown', because: 'no script of the page contains a map of this module' };
}

/** Looks up a page's script. The fetched text is what ran, and a file on disk is that script only if it has the same text. */
function mapOfServed(url: URL, sources: CodeSources): MapLookup {
  const { files, scripts } = sources;
  const fetched = scripts.get(url.href);
  const map = fetched && mapOf(fetched, sources);
  if (map) return map;
  const name = decoded(url.pathname).replace(/^\/@fs(?=\/)/, '');
  const ends = script.test(name) ? pathEnds(name) : [];
  const file = files.find(name) ?? ends.map((end) => files.only(end)).find((match) => match !== null) ?? null;
  if (file !== null && (!fetched || files.text(file) === fetched.text)) return { kind: 'as-written', file };
  return fetched
    ? { kind: 'unknown', because: 'the script names none, and there is none beside it' }
    : nothing;
}

/** Returns a path without its first folders, which may be those of another machine or the base path of a server. */
export function pathEnds(name: string): string[] {
  const parts = name.split('/').filter((part) => !/^\.{0,2}$/.test(part));
  return parts.map((_, at) => parts.slice(at).join('/'));
}

/** Reads the map of a script; null if it has none. `map` is what its server answered for it, and is absent for a script on disk. */
function mapOf(
  { text, url, map }: Pick<FetchedScript, 'text' | 'url'> & Partial<FetchedScript>,
  { files, maps }: CodeSources,
): ParsedMap | null {
  const address = mapUrlOf(text, url);
  if (address === null) return null;
  if (address.startsWith('data:')) return maps.parse(dataUrlText(address), url);
  if (map) return maps.parse(map, address);
  // A map with a remote URL usually also lies beside the script.
  for (const candidate of map === undefined ? [address, `${url}.map`] : []) {
    const file = files.find(filePath(new URL(candidate)));
    const content = file && files.text(file, bounds.sourceMap);
    if (file && content !== null) return maps.parse(content, pathToFileURL(file).href);
  }
  return mapReferenceIn(text) === null
    ? null
    : { kind: 'unknown', because: 'the file that the script names does not exist, or is too large' };
}

/** Returns an address as a URL without its fragment, or null for a path. */
export function urlOf(address: string): URL | null {
  if (!/^(?:https?|file):/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  url.hash = '';
  return url;
}

/** Returns the path of a `file:` URL; null for another URL, or if it is not valid on this system. */
export function filePath(url: URL): string | null {
  return url.protocol === 'file:'
    ? tryOr(null, () => fileURLToPath(new URL(url.pathname, 'file:///')))
    : null;
}
