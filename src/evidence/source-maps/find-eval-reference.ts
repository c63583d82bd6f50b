import path from 'node:path';
import { bounds } from '../bounds.js';
import { type FileSearch, filesBelow } from './folder-entries.js';
import type { MapPlaces } from './map-places.js';
import { evalReferenceIn } from './map-reference.js';

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
export function findEvalReference(address: string, places: MapPlaces): string | null {
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
