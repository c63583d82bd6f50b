import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bounds } from '../bounds.js';
import type { MapPlaces } from './map-places.js';
import { mapReferenceIn, textOfDataUrl } from './map-reference.js';
import type { ParsedMap } from './parse-map.js';
import { pathOfFileUrl } from './served-files.js';

/** Reads the map of a script of the project: inline, from the file that it names, or a hidden one next to it; null if it has none. */
export function mapOfFile(place: string, { files, maps }: MapPlaces): ParsedMap | null {
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
export function mapOfFetched(url: string, { fetched, maps }: MapPlaces): ParsedMap | null {
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
