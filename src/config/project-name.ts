import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** What a project is called: the name in its package.json, else that of its folder. */
export async function projectName(cwd: string): Promise<string> {
  return (await packageName(cwd)) ?? (path.basename(path.resolve(cwd)) || 'project');
}

/** A package.json that is absent or broken is for others to complain about. */
async function packageName(cwd: string): Promise<string | null> {
  try {
    const manifest: unknown = JSON.parse(await readFile(path.join(cwd, 'package.json'), 'utf8'));
    const name: unknown =
      typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, 'name') : null;
    return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
  } catch {
    return null;
  }
}
