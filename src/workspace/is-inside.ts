import path from 'node:path';

/** Whether a path is the folder itself or lies below it. */
export function isInside(folder: string, place: string): boolean {
  const way = path.relative(folder, place);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
