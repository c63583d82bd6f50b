import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TraceMap } from '@jridgewell/trace-mapping';
import { bounds } from '../bounds.js';
import type { AppFolders } from './app-folders.js';
import type { CapturedScripts } from './captured-scripts.js';
import { findEvalReference } from './find-eval-reference.js';
import type { MapPlaces } from './map-places.js';
import { mapReferenceIn, textOfDataUrl } from './map-reference.js';
import { parseMap } from './parse-map.js';
import type { ProjectFiles } from './project-files.js';
import { filesServedAt, pathOfFileUrl, urlOf } from './served-files.js';

/**
 * What is known of the code at an address: its map; `as-written` for code that runs as it lies on the disk, at this path;
 * `unknown` with what is to be said of it, or null where nothing is amiss.
 */
export type MapLookup =
  | { readonly kind: 'mapped'; readonly map: TraceMap }
  | { readonly kind: 'as-written'; readonly file: string }
  | { readonly kind: 'unknown'; readonly because: string | null };

/** A script's text, what it is relative to, and the map that lies beside it. */
interface Script {
  readonly text: string;
  readonly url: string;
  /** Reads what the script's reference names, or its hidden map where it names none. */
  readonly external: (reference: string | null) => ExternalMap;
}

type ExternalMap =
  | { readonly kind: 'found'; readonly text: string; readonly url: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too-large'; readonly bytes: number };

const script = /\.[cm]?js$/i;
const source = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i;
const noMap: MapLookup = { kind: 'unknown', because: null };

/** Looks for the source map of the code at an address: in the captured scripts, and in the project's files. Never throws. */
export function findMap(address: string, places: MapPlaces): MapLookup {
  if (address.startsWith('webpack-internal:')) return evaluated(address, places);
  const url = urlOf(address);
  if (url === null || url.protocol === 'file:') return onDisk(address, places);
  if (places.captured.script(url.href) === null && !source.test(url.pathname)) return noMap;
  return served(url, places);
}

/** A module that a bundle evaluates: its map stands in the bundle, beside its name. */
function evaluated(address: string, places: MapPlaces): MapLookup {
  // React numbers the frames that it passes on from a server: `…/page.tsx?7`.
  const reference =
    findEvalReference(address, places) ?? findEvalReference(address.replace(/\?.*$/, ''), places);
  const text = reference === null ? null : textOfDataUrl(reference);
  if (text === null) return { kind: 'unknown', because: 'no bundle holds a map of this module' };
  return mappedBy(text, null);
}

/** Code that a program on this machine runs from the disk. */
function onDisk(address: string, places: MapPlaces): MapLookup {
  const [file] = filesServedAt(address, places.folders);
  const place = file === undefined ? null : places.files.find(file);
  if (place === null || /[\\/]node_modules[\\/]/.test(place) || !source.test(place)) return noMap;
  return script.test(place) ? mapOfFile(place, places) : { kind: 'as-written', file: place };
}

function mapOfFile(place: string, { files }: MapPlaces): MapLookup {
  const read = files.read(place, bounds.script);
  const text = read.kind === 'read' ? read.text : '';
  const found = mapOf({ text, url: pathToFileURL(place).href, external: externalOf(place, files) });
  return found.kind === 'unknown' && found.because === null ? { kind: 'as-written', file: place } : found;
}

function served(url: URL, places: MapPlaces): MapLookup {
  const { files, folders, captured } = places;
  const text = captured.script(url.href);
  const candidates = filesServedAt(url.href, folders).filter((file) => files.find(file) !== null);
  // A build that is not the one that was served would name other lines.
  const place = candidates.find((file) => text === null || isSame(file, text, files));
  const found =
    place === undefined || !script.test(place) ? noMap : mapOfFile(files.find(place) ?? place, places);
  if (found.kind === 'mapped') return found;
  if (text !== null) {
    const fromCapture = mapOf({
      text,
      url: url.href,
      external: (reference) => kept(url, reference, captured),
    });
    if (fromCapture.kind === 'mapped' || place === undefined)
      return explained(fromCapture, candidates.length > 0);
  }
  if (found.kind === 'as-written' && isBuilt(found.file, folders)) return explained(noMap, false);
  return place === undefined ? explained(found, false) : found;
}

function isSame(file: string, text: string, files: ProjectFiles): boolean {
  const read = files.read(file, bounds.script);
  return read.kind === 'read' && read.text === text;
}

function isBuilt(file: string, { builds }: AppFolders): boolean {
  return builds.some((folder) => file.startsWith(folder + path.sep));
}

function explained(found: MapLookup, otherBuildOnDisk: boolean): MapLookup {
  if (found.kind !== 'unknown' || found.because !== null) return found;
  return {
    kind: 'unknown',
    because: otherBuildOnDisk
      ? 'it names none, and the file of that name in the project is another version'
      : 'it names none, and none lies beside it (a hidden one in the build folder is enough)',
  };
}

function kept(url: URL, reference: string | null, captured: CapturedScripts): ExternalMap {
  const text = captured.map(url.href);
  if (text === null) return { kind: 'none' };
  const named = reference !== null && URL.canParse(reference, url.href) ? reference : `${url.pathname}.map`;
  return { kind: 'found', text, url: new URL(named, url).href };
}

/** A file's map: the one it names, else the hidden one beside it. */
function externalOf(place: string, files: ProjectFiles): Script['external'] {
  return (reference) => {
    const named = reference === null ? [] : namedBy(reference, place);
    for (const file of [...named, `${place}.map`]) {
      const read = files.read(file, bounds.sourceMap);
      if (read.kind === 'too-large') return read;
      if (read.kind === 'read')
        return { kind: 'found', text: read.text, url: pathToFileURL(files.find(file) ?? file).href };
    }
    return { kind: 'none' };
  };
}

function namedBy(reference: string, place: string): string[] {
  const base = pathToFileURL(place).href;
  if (!URL.canParse(reference, base)) return [];
  const url = new URL(reference, base);
  // One that is to be fetched from somewhere lies, by its name, beside the script as a rule.
  if (url.protocol !== 'file:') return [path.join(path.dirname(place), path.posix.basename(url.pathname))];
  const file = pathOfFileUrl(url);
  return file === null ? [] : [file];
}

function mapOf({ text, url, external }: Script): MapLookup {
  const reference = mapReferenceIn(text);
  if (reference?.startsWith('data:')) {
    const inline = textOfDataUrl(reference);
    return inline === null
      ? { kind: 'unknown', because: 'its inline map is corrupt' }
      : mappedBy(inline, url);
  }
  const found = external(reference);
  if (found.kind === 'found') return mappedBy(found.text, found.url);
  if (found.kind === 'too-large') return { kind: 'unknown', because: `it has ${found.bytes} bytes` };
  return reference === null ? noMap : { kind: 'unknown', because: 'the file it names is not there' };
}

function mappedBy(text: string, url: string | null): MapLookup {
  const parsed = parseMap(text, url);
  return parsed.ok ? { kind: 'mapped', map: parsed.map } : { kind: 'unknown', because: parsed.because };
}
