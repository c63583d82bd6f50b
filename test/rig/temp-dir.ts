import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a folder that is removed when the test is over. Its name has a space and a non-ASCII letter, as real ones do. */
export function tempDir(name = 'größe mit raum'): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), `self-heal ${name} `)));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}
