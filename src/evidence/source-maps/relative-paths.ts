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
 * Rewrites paths that a tool printed relative to a folder of the project (a workspace's `vite build`) to start at the
 * project's root. Leaves a path unchanged if it exists at the root, in several such folders or in none.
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

/** Finds positions in built code that are named relative to the project's root; their address is the absolute path. */
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
