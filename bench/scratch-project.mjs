import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The repository. */
export const root = path.resolve(import.meta.dirname, '..');
/** The built command. */
export const selfHeal = path.join(root, 'bin', 'self-heal.js');

/** A project of these files in a temporary folder, with the repository's packages; `remove` deletes it. */
export function scratchProject(files) {
  const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-bench-'));
  for (const [file, text] of Object.entries({
    'package.json': '{ "name": "bench", "type": "module" }',
    ...files,
  })) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'), 'junction');
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
