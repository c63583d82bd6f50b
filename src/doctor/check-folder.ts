import { existsSync } from 'node:fs';
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bad, good, type Check } from './check.js';
import { reasonOf } from '../reason-of.js';

/** Checks whether `.self-heal` can be created and written, and removes whatever it created to find out. */
export async function checkFolder(cwd: string): Promise<Check> {
  const folder = path.join(cwd, '.self-heal');
  const file = path.join(folder, `doctor-${process.pid}.tmp`);
  const wasThere = existsSync(folder);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(file, '');
    await rm(file);
    if (!wasThere) await rmdir(folder);
    return good('.self-heal', 'writable');
  } catch (error) {
    const remedy = 'Make the project folder writable, or free some disk space.';
    return bad('.self-heal', `cannot be written: ${reasonOf(error)}`, remedy);
  }
}
