import { access, constants } from 'node:fs/promises';
import path from 'node:path';

/** Where to look for a program. */
export interface ProgramPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Finds a program as it would be started: in the `node_modules/.bin` folders that npm uses, then on PATH; null if it is not found. */
export async function findProgram(file: string, { cwd, env }: ProgramPlace): Promise<string | null> {
  if (/[\\/]/.test(file))
    return (await isExecutable(path.resolve(cwd, file))) ? path.resolve(cwd, file) : null;
  const folders = [...packageBins(cwd), ...pathOf(env).split(path.delimiter)];
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
 * folder and of those above it. A self-heal that was started by its path is not started by npm, but a suite's `vite preview` expects it.
 */
export function withPackageBins({ cwd, env }: ProgramPlace): NodeJS.ProcessEnv {
  const onPath = pathOf(env)
    .split(path.delimiter)
    .filter((folder) => folder !== '');
  const bins = packageBins(cwd).filter((folder) => !onPath.includes(folder));
  return { ...env, [pathNameIn(env)]: [...bins, ...onPath].join(path.delimiter) };
}

/** The order of npm's own `@npmcli/run-script`: nearest first. */
function packageBins(cwd: string): string[] {
  const parent = path.dirname(cwd);
  const own = path.join(cwd, 'node_modules', '.bin');
  return parent === cwd ? [own] : [own, ...packageBins(parent)];
}

function pathOf(env: ProgramPlace['env']): string {
  return env[pathNameIn(env)] ?? '';
}

/** Windows calls it `Path`, and a copy of the environment is case-sensitive. */
function pathNameIn(env: ProgramPlace['env']): string {
  return Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
