import path from 'node:path';
import type { MapPlaces } from './map-places.js';
import type { Frame } from './parse-frames.js';

const folders = String.raw`(?<=^|[\s"'\x60(])(?:\.\/)?((?:[\w.@+-]{1,100}\/){1,20}`;
const code = new RegExp(
  String.raw`${folders}[\w.@+[\]-]{1,100}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less))(?=["'\x60):\s(]|$)`,
  'gm',
);
const built = new RegExp(String.raw`${folders}[\w.@+-]{1,100}\.[cm]?js):(\d{1,7}):(\d{1,9})(?![\d:])`, 'gm');
const mostPaths = 200;

/**
 * The text with paths from the project's root where a tool that works in a folder of the project (a workspace's `vite build`) wrote
 * them from there. What lies at the root, in several such folders or in none is left as it is.
 */
export function fromRoot(
  text: string,
  { files, folders: { apps } }: Pick<MapPlaces, 'files' | 'folders'>,
): string {
  const known = new Map<string, string>();
  return text.replace(code, (whole, named: string) => {
    const place = known.get(named) ?? (known.size < mostPaths ? placeOf(named) : whole);
    known.set(named, place);
    return place === named ? whole : place;
  });

  function placeOf(named: string): string {
    if (named.includes('node_modules/') || files.find(named) !== null) return named;
    const places = new Set(apps.flatMap((app) => files.find(path.join(app, named)) ?? []));
    const [place] = places;
    return (places.size === 1 && place !== undefined ? files.relative(place) : null) ?? named;
  }
}

/** The positions in code that was built, named from the project's root, with the address of the file on the disk. */
export function relativeFramesIn(text: string, root: string): Frame[] {
  return [...text.matchAll(built)].map((match) => {
    const [whole, file = '', line, column] = match;
    const end = match.index + whole.length;
    return {
      address: path.join(root, file),
      line: Number(line),
      column: Number(column),
      start: match.index,
      end,
    };
  });
}
