import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

const dirsOfFile: string[] = [];

/** Removes the temporary folders of a test file now, since the process may be killed before its `exit` event. */
export function removeTempDirsOfFile(): void {
  for (const dir of dirsOfFile.splice(0)) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

/** Creates a folder that is removed after all tests of the file. */
export function tempDirOfFile(name: string): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), `self-heal ${name} `)));
  dirsOfFile.push(dir);
  return dir;
}

/** Creates a folder that is removed when the test is over. Its name has a space and a non-ASCII letter, as real ones do. */
export function tempDir(name = 'größe mit raum'): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), `self-heal ${name} `)));
  removeAfterTest(dir);
  return dir;
}

/** Removes a folder when the test is over. */
export function removeAfterTest(dir: string): void {
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
}
