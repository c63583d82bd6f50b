import { existsSync } from 'node:fs';
import path from 'node:path';
import type { AgentProgram } from '../agents/programs.js';
import { lockFolderOf, packageManagerOf, type PackageManager } from '../playwright/package-manager.js';

/** What a workflow must know of a project. */
export interface CiProject {
  /** The package, relative to the root of the repository, with `/`; `.` where it is the root. */
  readonly folder: string;
  /** Where packages are installed, likewise. */
  readonly installFolder: string;
  readonly manager: PackageManager;
  /** Installs exactly what the lock file says. */
  readonly install: string;
  /** What must be there before: the program of the package manager. */
  readonly before: string | null;
  /** `-c e2e/playwright.config.ts `, or nothing. */
  readonly configFlag: string;
}

/** The machines of a suite that one alone would run for too long. */
export interface Machines {
  /** So many run the tests, a part each. */
  readonly shards: number;
  /** So many heal what fails (SC-2); null where the one that collects it does. */
  readonly workers: number | null;
}

/** The variable that names the store in which workers meet: a secret, since it holds a password. */
export const storeVariable = 'SELF_HEAL_STORE';

/** Runs the tests and fixes what fails; with shards, what they left in that folder. */
export function healCommand(
  { manager, configFlag }: CiProject,
  machines: Machines | null,
  shardsFolder: string,
): string {
  const heal = `self-heal heal --from "${shardsFolder}"${machines?.workers ? ' --queue' : ''}`;
  return `${manager.exec} ${machines ? heal : 'self-heal run'} --fail-on-heal${configFlag}`;
}

/** Runs a part of the tests, such as `2/20`, and collects what fails. */
export function collectCommand({ manager, configFlag }: CiProject, shard: string): string {
  return `${manager.exec} self-heal run --collect --shard ${shard}${configFlag}`;
}

/** Heals what another machine sends, which sets itself up at the same time: so long it is waited for. */
export function workerCommand({ manager, configFlag }: CiProject): string {
  return `${manager.exec} self-heal worker --idle-timeout 15m${configFlag}`;
}

/** The commands that install an agent; none without one. */
export function agentInstalls(agent: AgentProgram | null): string[] {
  return agent ? [`npm install --global ${agent.packageName}`] : [];
}

/** Looks at what a workflow must know: in a monorepo packages are installed at the lock file, which is not where the tests are. */
export function ciProjectOf(cwd: string, root: string, config?: string): CiProject {
  const manager = packageManagerOf(cwd);
  const lockFolder = lockFolderOf(cwd);
  return {
    folder: relative(root, cwd),
    // A lock file above the repository is none of its business.
    installFolder: relative(root, lockFolder?.startsWith(root) ? lockFolder : cwd),
    manager,
    // A lock file that is written here would be a part of the fix, and a change that workers refuse.
    install: lockFolder === null ? 'npm install --no-package-lock' : installOf(manager, lockFolder),
    before:
      manager.name === 'npm' ? null : manager.name === 'bun' ? 'npm install --global bun' : 'corepack enable',
    configFlag: config === undefined ? '' : ` -c ${quoted(config)}`,
  };
}

/** Where runs leave what an artifact keeps, from the root of the repository. */
export function runsFolderOf({ folder }: CiProject): string {
  return `${folder === '.' ? '' : `${folder}/`}.self-heal/runs/`;
}

/** What becomes of a failure, as a workflow's head says it. */
export function whatHappens(agent: AgentProgram | null): string {
  return agent ? `handed to ${agent.title}` : 'healed where the built-in fixer is sure of it';
}

function installOf({ name }: PackageManager, lockFolder: string): string {
  switch (name) {
    case 'npm':
      return 'npm ci';
    case 'yarn':
      // Yarn 1 has no .yarnrc.yml, and no --immutable.
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

function relative(from: string, to: string): string {
  return path.relative(from, to).replaceAll(path.sep, '/') || '.';
}

/** One word for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
