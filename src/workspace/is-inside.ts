import { realpathSync } from 'node:fs';
import path from 'node:path';

/** Whether a path is the folder itself or inside it. */
export function isInside(folder: string, place: string): boolean {
  const way = path.relative(folder, place);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** Returns a path with links resolved, or as it is if it does not exist. */
export function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
