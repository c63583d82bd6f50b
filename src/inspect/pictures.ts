import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';

/** The page of a failure's test when it was green with the fix. */
export const afterName = 'after.png';

/** The pictures that a failure's folder may hold, with their media types. */
const types: Readonly<Record<string, string>> = {
  [afterName]: 'image/png',
  'screenshot.png': 'image/png',
  'screenshot.jpg': 'image/jpeg',
  'screenshot.webp': 'image/webp',
};

/** A picture of a run's folder. */
export interface Picture {
  /** The failure that it belongs to. */
  readonly n: number;
  readonly name: string;
}

/** Whether a file of this name is a picture of a failure. */
export function isPicture(name: string): boolean {
  return Object.hasOwn(types, name);
}

/** A picture with its media type; null where there is none. A link that somebody, an agent say, put in its place leads out of the folder. */
export async function readPicture(
  runDir: string,
  { n, name }: Picture,
): Promise<{ readonly bytes: Buffer; readonly type: string } | null> {
  const type = isPicture(name) ? types[name] : undefined;
  const place = path.join('failures', String(n), name);
  try {
    const isThere = (await realpath(path.join(runDir, place))) === path.join(await realpath(runDir), place);
    return type && isThere ? { bytes: await readFile(path.join(runDir, place)), type } : null;
  } catch {
    return null;
  }
}
