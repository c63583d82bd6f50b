import path from 'node:path';
import { readStateFile, StateRefused } from '../state-folder.js';

/** The page of a failed test after the fix turned it green. */
export const afterName = 'after.jpg';

/** The screenshots of the page of a failed test that its folder may contain. */
export const pictureNames = ['screenshot.png', 'screenshot.jpg', 'screenshot.webp'] as const;

/** The pictures of a failed screenshot comparison; the actual one is the failure's screenshot. */
export const comparisonNames = ['expected.png', 'difference.png'] as const;

const mediaTypes: Readonly<Record<string, string>> = {
  [afterName]: 'image/jpeg',
  'expected.png': 'image/png',
  'difference.png': 'image/png',
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

/** Reads a screenshot with its media type; null if there is none, or a link in its place, which an agent could have created. */
export function readPicture(
  runDir: string,
  { n, name }: Picture,
): { readonly bytes: Buffer; readonly type: string } | null {
  const type = Object.hasOwn(mediaTypes, name) ? mediaTypes[name] : undefined;
  if (type === undefined) return null;
  try {
    const bytes = readStateFile(path.join(runDir, 'failures', String(n), name));
    return bytes && { bytes, type };
  } catch (error) {
    if (error instanceof StateRefused) return null;
    throw error;
  }
}
