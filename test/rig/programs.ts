import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tempDir } from './temp-dir.js';

/** Creates a folder for PATH that contains programs, each given as the body of a shell script. */
export function programs(scripts: Record<string, string>): string {
  const dir = tempDir('bin');
  for (const [name, body] of Object.entries(scripts)) {
    writeFileSync(path.join(dir, name), `#!/bin/sh\n${body}\n`);
    chmodSync(path.join(dir, name), 0o755);
  }
  return dir;
}
