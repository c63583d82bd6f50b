import { access, constants } from 'node:fs/promises';
import path from 'node:path';

/** Where to look for a program. */
export interface ProgramPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Finds a program as it would be started: in the project's `node_modules/.bin`, then on PATH; null if it is not found. */
export async function findProgram(file: string, { cwd, env }: ProgramPlace): Promise<string | null> {
  if (/[\\/]/.test(file))
    return (await isExecutable(path.resolve(cwd, file))) ? path.resolve(cwd, file) : null;
  const folders = [path.join(cwd, 'node_modules', '.bin'), ...pathOf(env).split(path.delimiter)];
  const extensions =
    process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  for (const folder of folders.filter((one) => one !== '')) {
    for (const extension of extensions) {
      const candidate = path.resolve(cwd, folder, `${file}${extension}`);
      if (await isExecutable(candidate)) return candidate;
    }
  }
  return null;
}

/** Windows calls it `Path`, and a copy of the environment is case-sensitive. */
function pathOf(env: ProgramPlace['env']): string {
  const name = Object.keys(env).find((one) => one.toUpperCase() === 'PATH');
  return (name === undefined ? undefined : env[name]) ?? '';
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
