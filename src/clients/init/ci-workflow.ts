import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import type { AgentProgram } from '../../agents/programs.js';
import { git } from '../../workspace/git.js';
import { ownFile, readOwnVersion } from '../../own-files.js';
import { findLockFolder, findPackageManager, type PackageManager } from '../../playwright/package-manager.js';
import { relativePath } from '../../paths.js';

/** The CI systems for which `init` can write a workflow. */
export const ciSystems = ['github', 'gitlab'] as const;

export type CiSystem = (typeof ciSystems)[number];

/** Detects the CI system from the remote's host, or else from the files in the repository's root; null if there is none. */
export async function detectCiSystem(root: string): Promise<CiSystem | null> {
  const remote = (await git(root, ['config', '--get-regexp', String.raw`^remote\..*\.url$`])) ?? '';
  const host = ciSystems.find((system) =>
    new RegExp(String.raw`[/@.]${system}\.[\w.-]+[:/]`, 'i').test(remote),
  );
  if (host) return host;
  if (existsSync(path.join(root, '.gitlab-ci.yml'))) return 'gitlab';
  return existsSync(path.join(root, '.github')) ? 'github' : null;
}

/**
 * The files of each system's workflow, relative to the root of the repository; the first runs the tests. On GitHub, publishing is a separate
 * workflow, because jobs for a pull request from a fork get no token that may write.
 */
export const workflowFiles = {
  github: ['.github/workflows/self-heal.yml', '.github/workflows/self-heal-publish.yml'],
  gitlab: ['.gitlab/self-heal.gitlab-ci.yml'],
} as const;

interface WorkflowRequest {
  readonly system: CiSystem;
  /** The package and the root of its repository; absolute. */
  readonly cwd: string;
  readonly root: string;
  /** The value of `-c`. */
  readonly config?: string | undefined;
  /** Null to use only the built-in fixer. */
  readonly agent: AgentProgram | null;
  readonly defaultBranch: string;
}

/** Returns the remote's default branch according to this clone. */
export async function findDefaultBranch(root: string): Promise<string> {
  const head = await git(root, ['symbolic-ref', '--short', 'refs/remotes/origin/HEAD']);
  return head?.trim().replace(/^origin\//, '') || 'main';
}

/**
 * Returns the workflows for a project, in the order of `workflowFiles`. An agent gets no token for the repository: the checkout does not persist
 * it, and no step passes it on. The job that publishes has the token, and runs neither an agent nor the project's code.
 */
export function renderWorkflows(request: WorkflowRequest): string[] {
  return templates[request.system].map((name) => {
    const template = readFileSync(ownFile(`clients/init/templates/${name}.yml`), 'utf8');
    return fillTemplate(template, createTemplateValues(request));
  });
}

/** In the order of `workflowFiles`. */
const templates = { github: ['github', 'github-publish'], gitlab: ['gitlab'] } as const;

function createTemplateValues({ system, cwd, root, config, agent, defaultBranch }: WorkflowRequest) {
  // GitHub evaluates expressions everywhere, even in quoted names.
  const escapeLiteral = (text: string) =>
    system === 'github' ? text.replaceAll('${{', "${{ '${{' }}") : text;
  const manager = findPackageManager(cwd);
  const lockFolder = findLockFolder(cwd);
  const folder = relativePath(root, cwd) || '.';
  // In a monorepo, packages are installed next to the lock file. A lock file above the repository does not belong to it.
  const installFolder = relativePath(root, lockFolder?.startsWith(root) ? lockFolder : cwd) || '.';
  const prefix = folder === '.' ? '' : `${folder}/`;
  return {
    EXEC: manager.exec,
    BEFORE_INSTALL: findPreInstallCommand(manager),
    // A new lock file would become part of the fix.
    INSTALL:
      lockFolder === null ? 'npm install --no-package-lock' : createInstallCommand(manager, lockFolder),
    INSTALL_AGENT: agent?.packageName ? `npm install --global ${agent.packageName}` : null,
    KEY: agent?.keyVariable ?? null,
    WHAT_HAPPENS: agent ? `handed to ${agent.title}` : 'healed if the built-in fixer is sure of a fix',
    // In a flow mapping, more characters need quotes.
    FOLDER: folder === '.' ? null : escapeLiteral(JSON.stringify(folder)),
    TO_FOLDER: folder === installFolder ? null : createCdCommand(folder),
    INSTALL_FOLDER:
      folder === installFolder
        ? null
        : installFolder === '.'
          ? '${{ github.workspace }}'
          : escapeLiteral(installFolder),
    TO_INSTALL_FOLDER: installFolder === '.' ? null : createCdCommand(installFolder),
    RUNS_FOLDER: `${escapeLiteral(prefix)}.self-heal/runs/`,
    STORE: `${escapeLiteral(prefix)}.self-heal/ledger.db`,
    IN_FOLDER: folder === '.' ? '' : ` --folder ${escapeLiteral(quoteForShell(folder))}`,
    DEFAULT_BRANCH: JSON.stringify(defaultBranch),
    VERSION: readOwnVersion(),
    CONFIG: config === undefined ? '' : ` -c ${escapeLiteral(quoteForShell(config))}`,
  };
}

/**
 * Replaces each `__NAME__` in a template. Drops lines with a name whose value is null. Where a name is a whole YAML value, quotes its value if YAML
 * requires that.
 */
function fillTemplate(template: string, values: Readonly<Record<string, string | number | null>>): string {
  const lines = template.split('\n').flatMap((line) => {
    const names = [...line.matchAll(/__([A-Z_]+)__/g)].map(([, name = '']) => name);
    if (names.some((name) => values[name] === null)) return [];
    const [, before, onlyName = ''] = /^(\s*(?:- |[\w-]+: )+)__([A-Z_]+)__$/.exec(line) ?? [];
    if (before !== undefined) return [before + stringify(values[onlyName], { lineWidth: 0 }).trimEnd()];
    return [line.replaceAll(/__([A-Z_]+)__/g, (_, name: string) => String(values[name]))];
  });
  return lines.join('\n');
}

function findPreInstallCommand({ name }: PackageManager): string | null {
  if (name === 'npm') return null;
  return name === 'bun' ? 'npm install --global bun' : 'corepack enable';
}

/** Returns the command that installs exactly the versions in the lock file. */
function createInstallCommand({ name }: PackageManager, lockFolder: string): string {
  if (name === 'npm') return 'npm ci';
  // Yarn 1 has neither .yarnrc.yml nor --immutable.
  const isYarn2 = name === 'yarn' && existsSync(path.join(lockFolder, '.yarnrc.yml'));
  return `${name} install ${isYarn2 ? '--immutable' : '--frozen-lockfile'}`;
}

function createCdCommand(folder: string): string {
  return `cd "$CI_PROJECT_DIR"${folder === '.' ? '' : `/${quoteForShell(folder)}`}`;
}

/** Quotes one word for a POSIX shell. */
function quoteForShell(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
