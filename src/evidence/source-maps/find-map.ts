import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { decoded } from '../../core/urls.js';
import { bounds } from '../bounded-text.js';
import type { FetchedScripts } from './fetched-scripts.js';
import {
  evalReferenceIn,
  mapReferenceIn,
  type ParsedMap,
  type ParsedMaps,
  textOfDataUrl,
} from './parse-map.js';
import { type ProjectFiles, textOf } from './project-files.js';

/**
 * What is known about the code at an address. `mapped`: it has a source map. `as-written`: it runs unchanged from this
 * file on disk. `unknown`: `because` is what to report, or null if no map is expected.
 */
export type MapLookup =
  | ParsedMap
  | { readonly kind: 'as-written'; readonly file: string }
  | { readonly kind: 'unknown'; readonly because: string | null };

/** Where to look for scripts, maps and sources. */
export interface MapPlaces {
  readonly files: ProjectFiles;
  readonly fetched: FetchedScripts;
  readonly maps: ParsedMaps;
}

const source = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i;
const script = /\.[cm]?js$/i;
const nothing: MapLookup = { kind: 'unknown', because: null };

/** Finds the source map of the code at an address: the one that its script holds or names, or that lies beside it. Never throws. */
export function findMap(address: string, places: MapPlaces): MapLookup {
  if (address.startsWith('webpack-internal:')) return evaluated(address, places);
  const url = urlOf(address);
  if (url?.protocol.startsWith('http')) return served(url, places);
  const place = places.files.find((url ? pathOfFileUrl(url) : path.normalize(address)) ?? '\0');
  if (place === null || /[\\/]node_modules[\\/]/.test(place) || !source.test(place)) return nothing;
  return (script.test(place) && mapOfFile(place, places)) || { kind: 'as-written', file: place };
}

/** For a module that a bundle evaluates: the bundle contains its map, next to its name. */
function evaluated(address: string, { fetched, maps }: MapPlaces): MapLookup {
  // React numbers the frames that it forwards from a server: `…/page.tsx?7`.
  for (const name of [address, address.replace(/\?.*$/, '')])
    for (const url of fetched.urls) {
      const text = textOfDataUrl(evalReferenceIn(fetched.script(url) ?? '', name) ?? '');
      if (text !== null) return maps.parse(text, null);
    }
  return { kind: 'unknown', because: 'no script of the page contains a map of this module' };
}

/** For a page's script. The fetched text is what ran, and only a file with the same text is the same build. */
function served(url: URL, places: MapPlaces): MapLookup {
  const { files, fetched } = places;
  const text = fetched.script(url.href);
  const name = decoded(url.pathname).replace(/^\/@fs(?=\/)/, '');
  if (text === null) {
    const file = script.test(name) ? (files.find(name) ?? files.only(name)) : null;
    return file === null ? nothing : { kind: 'as-written', file };
  }
  const named = endsOf(name).flatMap((end) => files.ending(end));
  const same = named.filter((file) => files.text(file) === text);
  const place = same.find((file) => !files.isBuilt(file)) ?? same[0];
  const byFile = place !== undefined && mapOfFile(place, places);
  if (byFile && byFile.kind === 'mapped') return byFile;
  const found = mapOfFetched(url.href, places) ?? byFile;
  if (found) return found;
  if (place !== undefined && !files.isBuilt(place)) return { kind: 'as-written', file: place };
  const because =
    named.length > 0 && place === undefined
      ? 'the script names none, and the file of that name in the project is a different version'
      : 'the script names none, and there is none next to it (a hidden one in the build folder is enough)';
  return { kind: 'unknown', because };
}

/** Returns a path without its first folders, which may be that of the machine or the base path under which it was served. */
export function endsOf(name: string): string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((_, at) => parts.slice(at).join('/'));
}

/** Reads the map of a script of the project: inline, from the file that it names, or a hidden one next to it; null if it has none. */
function mapOfFile(place: string, { files, maps }: MapPlaces): ParsedMap | null {
  const reference = mapReferenceIn(files.text(place) ?? '');
  const base = pathToFileURL(place).href;
  if (reference?.startsWith('data:')) return inlineMap(reference, base, maps);
  const url = reference !== null && URL.canParse(reference, base) ? new URL(reference, base) : null;
  // A map with a remote URL usually also lies next to the script, under the same name.
  const named =
    url?.protocol === 'file:'
      ? pathOfFileUrl(url)
      : url && path.resolve(place, '..', path.basename(url.pathname));
  for (const file of [named ?? '\0', `${place}.map`]) {
    const found = files.find(file);
    if (found === null) continue;
    const text = textOf(found, bounds.sourceMap);
    if (text === null) return { kind: 'unknown', because: 'it is too large' };
    return maps.parse(text, pathToFileURL(found).href);
  }
  return reference === null ? null : absent;
}

/** Reads the map of a script that was fetched: inline, or as it was fetched, too; null if it has none. */
function mapOfFetched(url: string, { fetched, maps }: MapPlaces): ParsedMap | null {
  const reference = mapReferenceIn(fetched.script(url) ?? '');
  if (reference?.startsWith('data:')) return inlineMap(reference, url, maps);
  const text = fetched.map(url);
  if (text === null) return reference === null ? null : absent;
  const named = reference !== null && URL.canParse(reference, url) ? reference : '';
  return maps.parse(text, new URL(named, url).href);
}

const absent: ParsedMap = { kind: 'unknown', because: 'the file that the script names does not exist' };

function inlineMap(reference: string, url: string, maps: ParsedMaps): ParsedMap {
  const text = textOfDataUrl(reference);
  return text === null ? { kind: 'unknown', because: 'its inline map is corrupt' } : maps.parse(text, url);
}

/** Returns an address as a URL without its fragment, or null for a path. */
export function urlOf(address: string): URL | null {
  if (!/^(?:https?|file):/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  url.hash = '';
  return url;
}

/** Returns the path of a `file:` URL, or null if it is not valid on this system. */
export function pathOfFileUrl(url: URL): string | null {
  try {
    return fileURLToPath(new URL(url.pathname, 'file:///'));
  } catch {
    return null;
  }
}
