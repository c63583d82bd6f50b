import { access, constants } from 'node:fs/promises';
import path from 'node:path';

/** The folder and the environment in which to search for a program. */
export interface SearchContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Finds a program: in the `node_modules/.bin` folders that npm uses, then on PATH; null if it does not exist. */
export async function findProgram(file: string, { cwd, env }: SearchContext): Promise<string | null> {
  if (/[\\/]/.test(file))
    return (await isExecutable(path.resolve(cwd, file))) ? path.resolve(cwd, file) : null;
  const folders = [...listPackageBins(cwd), ...readPath(env).split(path.delimiter)];
  const extensions =
    process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  for (const folder of folders.filter((folder) => folder !== '')) {
    for (const extension of extensions) {
      const candidate = path.resolve(cwd, folder, `${file}${extension}`);
      if (await isExecutable(candidate)) return candidate;
    }
  }
  return null;
}

/**
 * Returns the environment in which `npm run` and `npx` would start a program in `cwd`: PATH begins with the `node_modules/.bin` of that
 * folder and of those above it. Programs such as a suite's `vite preview` need that even if self-heal was not started by npm.
 */
export function addPackageBins({ cwd, env }: SearchContext): NodeJS.ProcessEnv {
  const pathFolders = readPath(env)
    .split(path.delimiter)
    .filter((folder) => folder !== '');
  const bins = listPackageBins(cwd).filter((folder) => !pathFolders.includes(folder));
  return { ...env, [findPathName(env)]: [...bins, ...pathFolders].join(path.delimiter) };
}

/** Lists the `node_modules/.bin` folders, the nearest first, as npm's own `@npmcli/run-script` does. */
function listPackageBins(cwd: string): string[] {
  const parent = path.dirname(cwd);
  const nearest = path.join(cwd, 'node_modules', '.bin');
  return parent === cwd ? [nearest] : [nearest, ...listPackageBins(parent)];
}

function readPath(env: SearchContext['env']): string {
  return env[findPathName(env)] ?? '';
}

/** Windows calls it `Path`, and a copy of the environment is case-sensitive. */
function findPathName(env: SearchContext['env']): string {
  return Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
