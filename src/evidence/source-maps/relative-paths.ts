import path from 'node:path';
import type { MapPlaces } from './map-places.js';

const code =
  /(?<=^|[\s"'`(])(?:\.\/)?((?:[\w.@+-]{1,100}\/){1,20}[\w.@+[\]-]{1,100}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less))(?=["'`):\s(]|$)/gm;
const mostPaths = 200;

/**
 * Rewrites paths that a tool printed relative to a folder of the project or its workspace (a package's `vite build`) to start at the
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
