import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';

/** The page of a failed test after the fix turned it green. */
export const afterName = 'after.png';

/** The screenshots that a failure's folder may contain, with their media types. */
const types: Readonly<Record<string, string>> = {
  [afterName]: 'image/png',
  'screenshot.png': 'image/png',
  'screenshot.jpg': 'image/jpeg',
  'screenshot.webp': 'image/webp',
};

/** A screenshot in a run's folder. */
export interface Picture {
  /** The number of its failure. */
  readonly n: number;
  readonly name: string;
}

/** Reads a screenshot with its media type; null if there is none. A link in its place, which an agent could have created, is not followed. */
export async function readPicture(
  runDir: string,
  { n, name }: Picture,
): Promise<{ readonly bytes: Buffer; readonly type: string } | null> {
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  const place = path.join('failures', String(n), name);
  try {
    const isThere = (await realpath(path.join(runDir, place))) === path.join(await realpath(runDir), place);
    return type && isThere ? { bytes: await readFile(path.join(runDir, place)), type } : null;
  } catch {
    return null;
  }
}
