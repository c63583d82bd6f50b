import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bounds } from './bounds.js';
import type { ScreenshotSource } from './page-evidence.js';

const pictures: readonly { extension: string; begins: readonly number[] }[] = [
  { extension: 'png', begins: [0x89, 0x50, 0x4e, 0x47] },
  { extension: 'jpg', begins: [0xff, 0xd8, 0xff] },
  { extension: 'webp', begins: [0x52, 0x49, 0x46, 0x46] },
];

/**
 * Writes a screenshot into `folder` as `screenshot.png` (or `.jpg`, `.webp`, according to its first bytes) and returns
 * the path. Rejects if it cannot be read, exceeds the bound or is not a picture.
 */
export async function keepScreenshot(source: ScreenshotSource, folder: string): Promise<string> {
  const bytes = source.kind === 'bytes' ? source.bytes : readPicture(source.path);
  const kind = pictures.find(({ begins }) => begins.every((byte, at) => bytes[at] === byte));
  if (!kind) throw new Error('the file is not a picture');
  const path = join(folder, `screenshot.${kind.extension}`);
  writeFileSync(path, bytes);
  return path;
}

function readPicture(path: string): Buffer {
  const { size } = statSync(path);
  if (size > bounds.screenshot) throw new Error(`the picture of ${size} bytes is too large`);
  return readFileSync(path);
}
