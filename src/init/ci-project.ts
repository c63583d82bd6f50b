import { existsSync } from 'node:fs';
import path from 'node:path';
import type { AgentProgram } from '../agents/programs.js';
import { lockFolderOf, packageManagerOf, type PackageManager } from '../playwright/package-manager.js';
import { relativePath } from '../relative-path.js';

/** What a workflow needs to know about a project. */
export interface CiProject {
  /** The package, relative to the root of the repository, with forward slashes; `.` for the root. */
  readonly folder: string;
  /** The folder in which packages are installed, in the same form. */
  readonly installFolder: string;
  readonly manager: PackageManager;
  /** The command that installs exactly what the lock file specifies. */
  readonly install: string;
  /** The command that first installs the package manager, or null. */
  readonly before: string | null;
  /** ` -c e2e/playwright.config.ts`, or empty. */
  readonly configFlag: string;
}

/** The command that runs the tests and fixes failures; with shards, it heals what their reports in `reportsFolder` name as red. */
export function healCommand(
  { manager, configFlag }: CiProject,
  shards: number | null,
  reportsFolder: string,
): string {
  const heal = `self-heal heal --from "${reportsFolder}"`;
  return `${manager.exec} ${shards === null ? 'self-heal run' : heal} --fail-on-heal${configFlag}`;
}

/** The command that runs one part of the tests, such as `2/20`. Playwright alone writes its report. */
export function shardCommand({ manager, configFlag }: CiProject, shard: string): string {
  return `${manager.exec} playwright test --shard=${shard} --reporter=blob${configFlag}`;
}

/** The commands that install an agent; empty without one. */
export function agentInstalls(agent: AgentProgram | null): string[] {
  return agent ? [`npm install --global ${agent.packageName}`] : [];
}

/** Collects what a workflow needs to know. In a monorepo, packages are installed next to the lock file rather than next to the tests. */
export function ciProjectOf(cwd: string, root: string, config?: string): CiProject {
  const manager = packageManagerOf(cwd);
  const lockFolder = lockFolderOf(cwd);
  return {
    folder: relativePath(root, cwd) || '.',
    // A lock file above the repository does not belong to it.
    installFolder: relativePath(root, lockFolder?.startsWith(root) ? lockFolder : cwd) || '.',
    manager,
    // A lock file written here would become part of the fix.
    install: lockFolder === null ? 'npm install --no-package-lock' : installOf(manager, lockFolder),
    before:
      manager.name === 'npm' ? null : manager.name === 'bun' ? 'npm install --global bun' : 'corepack enable',
    configFlag: config === undefined ? '' : ` -c ${quoted(config)}`,
  };
}

/** Returns the folder of runs to upload, relative to the root of the repository. */
export function runsFolderOf({ folder }: CiProject): string {
  return `${folder === '.' ? '' : `${folder}/`}.self-heal/runs/`;
}

/** Says what happens to a failure, for the comment at the top of a workflow. */
export function whatHappens(agent: AgentProgram | null): string {
  return agent ? `handed to ${agent.title}` : 'healed if the built-in fixer is sure of the fix';
}

function installOf({ name }: PackageManager, lockFolder: string): string {
  switch (name) {
    case 'npm':
      return 'npm ci';
    case 'yarn':
      // Yarn 1 has neither .yarnrc.yml nor --immutable.
      return existsSync(path.join(lockFolder, '.yarnrc.yml'))
        ? 'yarn install --immutable'
        : 'yarn install --frozen-lockfile';
    case 'pnpm':
    case 'bun':
      return `${name} install --frozen-lockfile`;
    default:
      return name satisfies never;
  }
}

/** Quotes one word for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
