import path from 'node:path';
import { bounds } from '../bounds.js';
import { entriesOf } from './folder-entries.js';
import type { MapPlaces } from './map-places.js';
import { evalReferenceIn } from './map-reference.js';

const mostFiles = 300;
const mostBytes = 64 * 1024 * 1024;

/**
 * Finds the inline map of a module that a bundle evaluates under this address: in the captured scripts, otherwise in at
 * most 300 scripts (64 MB) of the project's build folders. Returns null if none contains it.
 */
export function findEvalReference(address: string, places: MapPlaces): string | null {
  const { captured, files } = places;
  for (const url of captured.urls) {
    const found = evalReferenceIn(captured.script(url) ?? '', address);
    if (found !== null) return found;
  }
  let left = mostBytes;
  for (const file of bundlesIn(places.folders.builds)) {
    const read = files.read(file, Math.min(bounds.script, left));
    if (read.kind !== 'read') continue;
    left -= Buffer.byteLength(read.text);
    const found = evalReferenceIn(read.text, address);
    if (found !== null) return found;
  }
  return null;
}

function bundlesIn(folders: readonly string[]): string[] {
  const queue = [...folders];
  const bundles: string[] = [];
  for (let at = 0; at < queue.length && at < mostFiles && bundles.length < mostFiles; at += 1) {
    for (const entry of entriesOf(queue[at] ?? '')) {
      const place = path.join(queue[at] ?? '', entry.name);
      if (entry.isDirectory() && !/^(?:node_modules|cache)$/.test(entry.name)) queue.push(place);
      else if (entry.isFile() && /\.[cm]?js$/.test(entry.name)) bundles.push(place);
    }
  }
  return bundles.slice(0, mostFiles);
}
