import path from 'node:path';

/** Returns the nearest folder above this one for which `isMeant` returns true, or null. */
export function projectAbove(folder: string, isMeant: (folder: string) => boolean): string | null {
  const parent = path.dirname(folder);
  if (parent === folder) return null;
  return isMeant(parent) ? parent : projectAbove(parent, isMeant);
}
