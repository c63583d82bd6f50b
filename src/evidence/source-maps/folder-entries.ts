import { readdirSync, type Dirent } from 'node:fs';

/** What a folder holds; nothing where it cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
