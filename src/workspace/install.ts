import path from 'node:path';
import { detect, resolveCommand } from 'package-manager-detector';
import { lockFolderOf } from '../playwright/package-manager.js';
import { type ProjectCommand, runCommand } from '../process/run-command.js';
import type { Contents } from './change.js';
import type { FileEdit } from './file-state.js';
import { isInside } from './is-inside.js';

const lockFile =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|bun\.lockb?)$/;
const packageFile = /(?:^|\/)package\.json$/;
const parts = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
const replacements = ['overrides', 'resolutions', 'pnpm', 'workspaces'];

/** Whether a change requires different packages to be installed. */
export async function changesPackages(edits: readonly FileEdit[], contents: Contents): Promise<boolean> {
  for (const { path: file, before, after } of edits) {
    if (lockFile.test(file)) return true;
    if (!packageFile.test(file)) continue;
    const [old, now] = await Promise.all(
      [before, after].map(async (state) => wanted(state && (await contents.get(state.hash)).toString())),
    );
    if (old !== now) return true;
  }
  return false;
}

function wanted(text: string | null): string {
  try {
    const value = JSON.parse(text ?? '{}') as Record<string, unknown>;
    return JSON.stringify([...parts, ...replacements].map((name) => value[name] ?? null));
  } catch {
    return text ?? '';
  }
}

/** An install by the project's package manager. */
export interface Install {
  /** The command line, for display. */
  readonly command: string;
  /** Runs the install; returns null if it succeeded, else the end of its output. */
  run(of: Pick<ProjectCommand, 'runId'> & Partial<Pick<ProjectCommand, 'signal'>>): Promise<string | null>;
}

/**
 * Returns the install command of the project's package manager, detected by its lock file or `packageManager` field; npm by default. It runs where
 * the lock file is, because npm in a workspace's package would install only that package, and would not remove what is no longer needed.
 */
export async function installOf(project: string, root: string): Promise<Install> {
  const found = await detect({ cwd: project, stopDir: path.dirname(root) });
  const resolved = resolveCommand(found?.agent ?? 'npm', 'install', []);
  const { command, args } = resolved ?? { command: 'npm', args: ['install'] };
  const lockFolder = lockFolderOf(project);
  return {
    command: [command, ...args].join(' '),
    run: async ({ runId, signal = new AbortController().signal }) => {
      const failed = await runCommand({
        file: command,
        args,
        cwd: lockFolder !== null && isInside(root, lockFolder) ? lockFolder : project,
        // Otherwise, pnpm and yarn refuse a lock file that the fix did not update.
        env: { ...process.env, CI: '', npm_config_audit: 'false', npm_config_fund: 'false' },
        runId,
        signal,
      });
      return failed && `${failed.output}\nit ended with ${failed.how}`;
    },
  };
}
