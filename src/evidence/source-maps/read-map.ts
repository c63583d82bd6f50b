import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bounds } from '../bounds.js';
import type { MapPlaces } from './map-places.js';
import { mapReferenceIn, textOfDataUrl } from './map-reference.js';
import type { ParsedMap } from './parse-map.js';
import type { ProjectFiles } from './project-files.js';
import { pathOfFileUrl } from './served-files.js';

type ExternalMap =
  | { readonly kind: 'found'; readonly text: string; readonly url: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too-large'; readonly bytes: number };

/** A script's URL, and the reference to its map. */
interface ScriptsMap extends Pick<MapPlaces, 'maps'> {
  readonly reference: string | null;
  readonly url: string;
}

/** The map of a script, or why it cannot be used; null if the script has none. */
export type MapOfScript = ParsedMap | null;

/** Reads the map of a script of the project: inline, from the file that it names, or a hidden one next to it. */
export function mapOfFile(place: string, { files, maps }: MapPlaces): MapOfScript {
  const read = files.read(place, bounds.script);
  const reference = read.kind === 'read' ? mapReferenceIn(read.text) : null;
  const url = pathToFileURL(place).href;
  return mapBy({ reference, url, maps }, () => externalOf(reference, place, files));
}

/** Reads the map of a script that the capture kept: inline, or as the capture fetched it. */
export function mapOfCaptured(url: string, { captured, maps }: MapPlaces): MapOfScript {
  const reference = mapReferenceIn(captured.script(url) ?? '');
  return mapBy({ reference, url, maps }, () => {
    const text = captured.map(url);
    if (text === null) return { kind: 'none' };
    const named = reference !== null && URL.canParse(reference, url) ? reference : '';
    return { kind: 'found', text, url: new URL(named, url).href };
  });
}

function mapBy({ reference, url, maps }: ScriptsMap, external: () => ExternalMap): MapOfScript {
  if (reference?.startsWith('data:')) {
    const inline = textOfDataUrl(reference);
    return inline === null ? { ok: false, because: 'its inline map is corrupt' } : maps.parse(inline, url);
  }
  const found = external();
  if (found.kind === 'found') return maps.parse(found.text, found.url);
  if (found.kind === 'too-large') return { ok: false, because: `it is too large (${found.bytes} bytes)` };
  return reference === null ? null : { ok: false, because: 'the file that the script names does not exist' };
}

function externalOf(reference: string | null, place: string, files: ProjectFiles): ExternalMap {
  const named = reference === null ? [] : namedBy(reference, place);
  for (const file of [...named, `${place}.map`]) {
    const read = files.read(file, bounds.sourceMap);
    if (read.kind === 'too-large') return read;
    if (read.kind === 'read')
      return { kind: 'found', text: read.text, url: pathToFileURL(files.find(file) ?? file).href };
  }
  return { kind: 'none' };
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
