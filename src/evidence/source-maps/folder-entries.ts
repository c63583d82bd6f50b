import { readdirSync, type Dirent } from 'node:fs';

/** Returns the entries of a folder; none if it cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
