import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tempDir } from './temp-dir.js';

/** A folder for PATH that holds programs, each by the body of its shell script. */
export function programs(scripts: Record<string, string>): string {
  const dir = tempDir('bin');
  for (const [name, body] of Object.entries(scripts)) {
    writeFileSync(path.join(dir, name), `#!/bin/sh\n${body}\n`);
    chmodSync(path.join(dir, name), 0o755);
  }
  return dir;
}
