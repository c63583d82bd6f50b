import { environment } from '../environment.js';
import path from 'node:path';
import { detect, resolveCommand } from 'package-manager-detector';
import { LOCKS } from 'package-manager-detector/constants';
import { findLockFolder } from '../playwright/package-manager.js';
import { runProgram } from '../process/supervise.js';
import { isInside, relativePath } from '../paths.js';
import type { ContentStore } from './change.js';
import { readContent, type FileEdit, type FileState, isSameState, readFileState } from './file-state.js';
import { writeFiles } from './write-files.js';
import { tryOr } from '../result.js';

const packageFile = /(?:^|\/)package\.json$/;
/** The fields of a package.json that determine which packages are installed. */
const dependencyFields =
  'dependencies devDependencies optionalDependencies peerDependencies overrides resolutions pnpm workspaces'.split(
    ' ',
  );

/** True if a change requires different packages to be installed. */
export async function changesPackages(edits: readonly FileEdit[], contents: ContentStore): Promise<boolean> {
  for (const { path: file, before, after } of edits) {
    if (path.posix.basename(file) in LOCKS) return true;
    if (!packageFile.test(file)) continue;
    const [old, now] = await Promise.all(
      [before, after].map(async (state) =>
        readDependencies(state && (await contents.get(state.hash)).toString()),
      ),
    );
    if (old !== now) return true;
  }
  return false;
}

function readDependencies(manifest: string | null): string {
  return tryOr(manifest ?? '', () => {
    const value = JSON.parse(manifest ?? '{}') as Record<string, unknown>;
    return JSON.stringify(dependencyFields.map((name) => value[name] ?? null));
  });
}

interface InstallRequest {
  readonly project: string;
  /** The folder to which the paths of edits are relative. */
  readonly root: string;
  /** The run whose fix or revert requires the install. */
  readonly runId: string;
  readonly contents: ContentStore;
  readonly signal?: AbortSignal | undefined;
}

/** Package managers without `--ignore-scripts`: Yarn Berry has a variable instead, and Deno runs no scripts by default. */
const withoutScriptsFlag: readonly string[] = ['yarn@berry', 'deno'];

const settings = {
  YARN_ENABLE_SCRIPTS: 'false',
  // In CI, pnpm and yarn refuse a lock file that the fix did not update.
  CI: '',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
};

interface Installer {
  /** The command line, for display. */
  readonly command: string;
  /** Runs the install, and ends all processes that it leaves. */
  run(): Promise<{
    /** The output of a failed install, else null. */
    readonly failed: string | null;
    /** Its changes to lock files. */
    readonly lockEdits: readonly FileEdit[];
  }>;
}

/**
 * Returns the install command of the project's package manager, detected by its lock file or `packageManager` field; npm by default. It runs in
 * the folder of the lock file, because npm would otherwise install only one package of a workspace, and keep unneeded ones. It runs no scripts,
 * because they could execute code of a fix that is not proven.
 */
export async function createInstaller(request: InstallRequest): Promise<Installer> {
  const { project, root, runId, contents, signal = new AbortController().signal } = request;
  const agent = (await detect({ cwd: project, stopDir: path.dirname(root) }))?.agent ?? 'npm';
  const noScripts = withoutScriptsFlag.includes(agent) ? [] : ['--ignore-scripts'];
  const resolved = resolveCommand(agent, 'install', noScripts);
  const { command, args } = resolved ?? { command: 'npm', args: ['install', ...noScripts] };
  const lockFolder = findLockFolder(project);
  const cwd = lockFolder !== null && isInside(root, lockFolder) ? lockFolder : project;
  return {
    command: [command, ...args].join(' '),
    run: async () => {
      const before = await readLocks(cwd, contents);
      const failed = await runProgram({
        file: command,
        args,
        cwd,
        env: { ...environment(), ...settings },
        runId,
        signal,
      });
      const after = await readLocks(cwd, contents);
      const edits = Object.keys(LOCKS).map((name) => ({
        path: relativePath(root, path.join(cwd, name)),
        before: before.get(name) ?? null,
        after: after.get(name) ?? null,
      }));
      return {
        failed: failed && `${failed.output}\nit ended with ${failed.how}`,
        lockEdits: edits.filter(({ before, after }) => !isSameState(before, after)),
      };
    },
  };
}

/** Reverts an install's changes to lock files. */
export async function restoreLockFiles(
  root: string,
  lockEdits: readonly FileEdit[],
  contents: ContentStore,
): Promise<void> {
  const files = lockEdits.map((edit) => ({ path: edit.path, known: [edit.after], goal: edit.before }));
  await writeFiles(root, { files, folders: [] }, contents);
}

async function readLocks(folder: string, contents: ContentStore): Promise<ReadonlyMap<string, FileState>> {
  const states = new Map<string, FileState>();
  for (const name of Object.keys(LOCKS)) {
    const state = readFileState(folder, name);
    if (state === null || state === 'other') continue;
    await contents.put(readContent(path.join(folder, name), state.kind));
    states.set(name, state);
  }
  return states;
}
