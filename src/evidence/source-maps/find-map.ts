import path from 'node:path';
import { type AppFolders, isBuilt, filesServedAt, urlOf, pathOfFileUrl } from './served-files.js';
import {
  textOfDataUrl,
  mapReferenceIn,
  evalReferenceIn,
  type ParsedMap,
  type ParsedMaps,
} from './parse-map.js';
import { pathToFileURL } from 'node:url';
import { bounds } from '../bounded-text.js';
import { type FileSearch, filesBelow, type ProjectFiles } from './project-files.js';
import type { FetchedScripts } from './fetched-scripts.js';

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
  readonly folders: AppFolders;
  readonly fetched: FetchedScripts;
  readonly maps: ParsedMaps;
}

const script = /\.[cm]?js$/i;
const source = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i;
const nothing: MapLookup = { kind: 'unknown', because: null };

/** Finds the source map of the code at an address, in the fetched scripts and in the project's files. Never throws. */
export function findMap(address: string, places: MapPlaces): MapLookup {
  if (address.startsWith('webpack-internal:')) return evaluated(address, places);
  const url = urlOf(address);
  if (url === null || url.protocol === 'file:') return onDisk(address, places);
  if (places.fetched.script(url.href) === null && !source.test(url.pathname)) return nothing;
  return served(url, places);
}

/** For a module that a bundle evaluates: the bundle contains its map, next to its name. */
function evaluated(address: string, places: MapPlaces): MapLookup {
  // React numbers the frames that it forwards from a server: `…/page.tsx?7`.
  const reference =
    findEvalReference(address, places) ?? findEvalReference(address.replace(/\?.*$/, ''), places);
  const text = reference === null ? null : textOfDataUrl(reference);
  if (text === null) return { kind: 'unknown', because: 'no bundle contains a map of this module' };
  return places.maps.parse(text, null);
}

/** For code that a program on this machine runs from disk. */
function onDisk(address: string, places: MapPlaces): MapLookup {
  const { files, folders } = places;
  const [file] = filesServedAt(address, folders);
  const place = file === undefined ? null : files.find(file);
  if (place === null || /[\\/]node_modules[\\/]/.test(place) || !source.test(place)) return nothing;
  const found = script.test(place) ? mapOfFile(place, places) : null;
  return found ?? { kind: 'as-written', file: place };
}

/**
 * For a page's script. The fetched text is what ran; a file of the project is used if it is identical, or if nothing
 * was fetched.
 */
function served(url: URL, places: MapPlaces): MapLookup {
  const { files, folders, fetched } = places;
  const text = fetched.script(url.href);
  const candidates = filesServedAt(url.href, folders).flatMap((file) => files.find(file) ?? []);
  // A build other than the one that was served would give wrong lines.
  const same = candidates.filter((file) => text === null || files.text(file) === text);
  // A build may be a copy of the source.
  const written = text === null ? undefined : same.find((file) => !isBuilt(file, folders));
  const place = written ?? same[0];
  const byFile = place !== undefined && script.test(place) ? mapOfFile(place, places) : null;
  if (byFile?.kind === 'mapped') return byFile;
  const found = (text === null ? null : mapOfFetched(url.href, places)) ?? byFile;
  if (found !== null) return found;
  if (place === undefined) return withoutMap(candidates.length > 0);
  if (isBuilt(place, writtenBy(folders))) return withoutMap(false);
  // The source was served unchanged, unless it is TypeScript that was not fetched: its types were removed first.
  return script.test(place) || text !== null ? { kind: 'as-written', file: place } : nothing;
}

function withoutMap(otherVersionOnDisk: boolean): MapLookup & { kind: 'unknown' } {
  const because = otherVersionOnDisk
    ? 'the script names none, and the file of that name in the project is a different version'
    : 'the script names none, and there is none next to it (a hidden one in the build folder is enough)';
  return { kind: 'unknown', because };
}

/** Files in `public` are usually served as they were written. */
function writtenBy({ builds }: AppFolders): Pick<AppFolders, 'builds'> {
  return { builds: builds.filter((folder) => path.basename(folder) !== 'public') };
}

/** Reads the map of a script of the project: inline, from the file that it names, or a hidden one next to it; null if it has none. */
function mapOfFile(place: string, { files, maps }: MapPlaces): ParsedMap | null {
  const reference = mapReferenceIn(files.text(place) ?? '');
  if (reference?.startsWith('data:')) return inlineMap(reference, pathToFileURL(place).href, maps);
  const named = reference === null ? [] : namedBy(reference, place);
  for (const file of [...named, `${place}.map`]) {
    const read = files.read(file, bounds.sourceMap);
    if (read.kind === 'too-large')
      return { kind: 'unknown', because: `it is too large (${read.bytes} bytes)` };
    if (read.kind === 'read') return maps.parse(read.text, pathToFileURL(files.find(file) ?? file).href);
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

function inlineMap(reference: string, url: string, maps: MapPlaces['maps']): ParsedMap {
  const text = textOfDataUrl(reference);
  return text === null ? { kind: 'unknown', because: 'its inline map is corrupt' } : maps.parse(text, url);
}

function namedBy(reference: string, place: string): string[] {
  const base = pathToFileURL(place).href;
  if (!URL.canParse(reference, base)) return [];
  const url = new URL(reference, base);
  // A map with a remote URL usually also lies next to the script, under the same name.
  if (url.protocol !== 'file:') return [path.join(path.dirname(place), path.posix.basename(url.pathname))];
  const file = pathOfFileUrl(url);
  return file === null ? [] : [file];
}

const bundles: FileSearch = {
  isWanted: (name) => /\.[cm]?js$/.test(name),
  isEntered: (folder) => !/^(?:node_modules|cache)$/.test(path.basename(folder)),
  most: 300,
};
const mostBytes = 64 * 1024 * 1024;

/**
 * Finds the inline map of a module that a bundle evaluates under this address: in the fetched scripts, otherwise in at
 * most 300 scripts (64 MB) of the project's build folders. Returns null if none contains it.
 */
function findEvalReference(address: string, places: MapPlaces): string | null {
  const { fetched, files } = places;
  for (const url of fetched.urls) {
    const found = evalReferenceIn(fetched.script(url) ?? '', address);
    if (found !== null) return found;
  }
  let left = mostBytes;
  for (const file of filesBelow(places.folders.builds, bundles)) {
    const read = files.read(file, Math.min(bounds.script, left));
    if (read.kind !== 'read') continue;
    left -= Buffer.byteLength(read.text);
    const found = evalReferenceIn(read.text, address);
    if (found !== null) return found;
  }
  return null;
}
