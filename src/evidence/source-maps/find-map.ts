import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { decoded } from '../../urls.js';
import type { FetchedScript } from '../../playwright/suite-run.js';
import { evalReferenceIn, mapUrlOf, type ParsedMap, type ParsedMaps, textOfDataUrl } from './parse-map.js';
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
  /** Those that were fetched from their servers, by their URLs without a fragment. */
  readonly scripts: ReadonlyMap<string, FetchedScript>;
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
  const { files } = places;
  const place = files.find((url ? pathOfFileUrl(url) : path.normalize(address)) ?? '\0');
  if (place === null || /[\\/]node_modules[\\/]/.test(place) || !source.test(place)) return nothing;
  const map = script.test(place) && mapOf(files.text(place) ?? '', pathToFileURL(place).href, places);
  return map || { kind: 'as-written', file: place };
}

/** For a module that a bundle evaluates: the bundle contains its map, next to its name. */
function evaluated(address: string, { scripts, maps }: MapPlaces): MapLookup {
  // React numbers the frames that it forwards from a server: `…/page.tsx?7`.
  for (const name of [address, address.replace(/\?.*$/, '')])
    for (const { text } of scripts.values()) {
      const map = textOfDataUrl(evalReferenceIn(text, name) ?? '');
      if (map !== null) return maps.parse(map, null);
    }
  return { kind: 'unknown', because: 'no script of the page contains a map of this module' };
}

/** For a page's script. The fetched text is what ran, and a file is only it if it has the same text. */
function served(url: URL, places: MapPlaces): MapLookup {
  const { files, scripts } = places;
  const fetched = scripts.get(url.href);
  const map = fetched && mapOf(fetched.text, url.href, places, fetched.map);
  if (map) return map;
  const name = decoded(url.pathname).replace(/^\/@fs(?=\/)/, '');
  const ends = script.test(name) ? endsOf(name) : [];
  const file = files.find(name) ?? ends.map((end) => files.only(end)).find((found) => found !== null) ?? null;
  if (file !== null && (!fetched || files.text(file) === fetched.text)) return { kind: 'as-written', file };
  return fetched
    ? { kind: 'unknown', because: 'the script names none, and there is none beside it' }
    : nothing;
}

/** Returns a path without its first folders, which may be that of the machine or the base path under which it was served. */
export function endsOf(name: string): string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.map((_, at) => parts.slice(at).join('/'));
}

/** Reads the map of a script: inline, the one that it names, or the one beside it; null if it has none. `fetched` is the one of a page's script. */
function mapOf(
  text: string,
  url: string,
  { files, maps }: MapPlaces,
  fetched?: string | null,
): ParsedMap | null {
  const at = mapUrlOf(text, url);
  if (at === null) return null;
  if (at.startsWith('data:')) {
    const inline = textOfDataUrl(at);
    return inline === null
      ? { kind: 'unknown', because: 'its inline map is corrupt' }
      : maps.parse(inline, url);
  }
  if (fetched) return maps.parse(fetched, at);
  // A map with a remote URL usually also lies beside the script.
  const places = fetched === undefined ? [at, `${url}.map`].filter((one) => one.startsWith('file:')) : [];
  const place = places
    .map((one) => files.find(pathOfFileUrl(new URL(one)) ?? '\0'))
    .find((one) => one !== null);
  if (!place)
    return at === `${url}.map`
      ? null
      : { kind: 'unknown', because: 'the file that the script names does not exist' };
  const found = textOf(place);
  return found === null
    ? { kind: 'unknown', because: 'it is too large' }
    : maps.parse(found, pathToFileURL(place).href);
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
