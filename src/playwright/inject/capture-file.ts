import fs from 'node:fs';
import path from 'node:path';
import type { CaptureFile } from '../capture-format.js';

/**
 * Writes the capture of one try. A serial suite makes a second pass for its `afterAll`, which is merged into the first.
 * The file is renamed into place once it is complete, since a worker may end at any moment.
 */
export function writeCapture(file: string, captured: CaptureFile): void {
  const whole = merged(read(file), captured);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  fs.writeFileSync(unfinished, JSON.stringify(whole));
  fs.renameSync(unfinished, file);
}

function read(file: string): CaptureFile | null {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as CaptureFile;
  } catch {
    return null;
  }
}

function merged(earlier: CaptureFile | null, later: CaptureFile): CaptureFile {
  if (!earlier) return later;
  return {
    schemaVersion: 1,
    console: [...earlier.console, ...later.console],
    network: [...earlier.network, ...later.network],
    pages: [...earlier.pages, ...later.pages],
    scripts: [...earlier.scripts, ...later.scripts],
    dropped: {
      console: earlier.dropped.console + later.dropped.console,
      network: earlier.dropped.network + later.dropped.network,
    },
  };
}
