import { access, constants } from 'node:fs/promises';
import path from 'node:path';

/** Where to look for a program. */
export interface ProgramPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Finds a program: in the `node_modules/.bin` folders that npm uses, then on PATH; null if it does not exist. */
export async function findProgram(file: string, { cwd, env }: ProgramPlace): Promise<string | null> {
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
export function addPackageBins({ cwd, env }: ProgramPlace): NodeJS.ProcessEnv {
  const onPath = readPath(env)
    .split(path.delimiter)
    .filter((folder) => folder !== '');
  const bins = listPackageBins(cwd).filter((folder) => !onPath.includes(folder));
  return { ...env, [findPathName(env)]: [...bins, ...onPath].join(path.delimiter) };
}

/** The order of npm's own `@npmcli/run-script`: nearest first. */
function listPackageBins(cwd: string): string[] {
  const parent = path.dirname(cwd);
  const own = path.join(cwd, 'node_modules', '.bin');
  return parent === cwd ? [own] : [own, ...listPackageBins(parent)];
}

function readPath(env: ProgramPlace['env']): string {
  return env[findPathName(env)] ?? '';
}

/** Windows calls it `Path`, and a copy of the environment is case-sensitive. */
function findPathName(env: ProgramPlace['env']): string {
  return Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
