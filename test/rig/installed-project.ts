import path from 'node:path';
import { execa } from 'execa';
import { writeInto } from './agent-workspace.js';
import { tempDir } from './temp-dir.js';
import { userEnv } from './scratch-project.js';

const repository = path.resolve(import.meta.dirname, '../..');

/** A user's project with self-heal, installed from its package, and other packages. */
export interface InstalledProject {
  readonly dir: string;
  /** Runs a command of the project, as `npx` would, on the given Node. */
  run(
    node: string,
    args: readonly string[],
  ): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }>;
}

/** Packs self-heal and installs it, and the packages named, from the registry into a project of these files. */
export async function installedProject(
  files: Record<string, string>,
  packages: readonly string[],
): Promise<InstalledProject> {
  const dir = tempDir('installed größe');
  writeInto(dir, files);
  const env = { ...userEnv(), PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' };
  const npm = (args: readonly string[], cwd: string) => execa('npm', args, { cwd, env, extendEnv: false });
  const packed = await npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], repository);
  const tarball = `./${packed.stdout.trim().split('\n').at(-1)}`;
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', tarball, ...packages], dir);
  return {
    dir,
    run: async (node, args) => {
      const cli = path.join(dir, 'node_modules', 'self-heal', 'bin', 'self-heal.js');
      const options = { cwd: dir, env, extendEnv: false, reject: false, stdin: 'ignore' } as const;
      const { exitCode, stdout, stderr } = await execa(node, [cli, ...args], options);
      return { exitCode, stdout, stderr };
    },
  };
}
