import { realpathSync } from 'node:fs';
import path from 'node:path';

/** Whether a path is the folder itself or lies below it. */
export function isInside(folder: string, place: string): boolean {
  const way = path.relative(folder, place);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** A file's path without links, or as it is where there is no such file. */
export function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
