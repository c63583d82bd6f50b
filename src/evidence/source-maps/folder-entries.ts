import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';

/** Returns the entries of a folder; none if it cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** How a search for files is bounded. */
export interface FileSearch {
  readonly isWanted: (name: string) => boolean;
  /** Whether to search the folder at this path, too. */
  readonly isEntered: (folder: string) => boolean;
  /** The maximum number of files to return. */
  readonly most: number;
}

/** Returns the paths of files in and below folders, each once, those of the upper levels first. */
export function filesBelow(folders: readonly string[], { isWanted, isEntered, most }: FileSearch): string[] {
  const files: string[] = [];
  const queue = new Set(folders);
  for (const folder of queue) {
    for (const entry of entriesOf(folder)) {
      const place = path.join(folder, entry.name);
      if (entry.isFile() && isWanted(entry.name)) files.push(place);
      else if (entry.isDirectory() && isEntered(place)) queue.add(place);
    }
    if (files.length >= most) break;
  }
  return files.slice(0, most);
}
