import path from 'node:path';

/** The nearest folder above this one that looks like what is searched for, or null. */
export function projectAbove(folder: string, isMeant: (folder: string) => boolean): string | null {
  const parent = path.dirname(folder);
  if (parent === folder) return null;
  return isMeant(parent) ? parent : projectAbove(parent, isMeant);
}
