import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { agentsInUse, withInstalledRunner } from '../agents/check-agents.js';
import { programNamed } from '../agents/programs.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../core/settings.js';
import { gitRootOf, gitSays } from '../git/git.js';
import { outdatedWorkflows } from '../init/ci-workflow.js';
import { ownFile } from '../own-files.js';
import { findPlaywrightConfig } from '../playwright/find-config.js';
import { findPlaywright, isAtLeast } from '../playwright/find-playwright.js';
import { type Problem, reasonOf } from '../problem.js';
import {
  hasStateFolder,
  makeStateFolder,
  removeState,
  stateFolder,
  stateProblem,
  writeState,
} from '../state-folder.js';
import { checkRoutes } from './check-programs.js';
import { checkSuite } from './check-suite.js';
import { failed, type Check, warning, passed, probe, type ProbePlace } from './check.js';

interface Examination {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly nodeVersion: string;
  /** The value of `-c`. */
  readonly config?: string | undefined;
  /** The value of `--agents`. */
  readonly agents?: string | undefined;
  /** The folder of the compiled scripts for Playwright; defaults to those of this build. */
  readonly injectDir?: string | undefined;
}

/** Checks everything a run needs (CL-11), in the order in which a run needs it. Changes nothing and calls no model. */
export async function examine(examination: Examination): Promise<Check[]> {
  const { cwd, nodeVersion } = examination;
  const groups = await Promise.all([
    examinePlaywright(examination),
    examineAgents(examination),
    checkGit(examination),
    checkFolder(cwd),
  ]);
  return [checkNode(nodeVersion), ...groups.flat()];
}

async function examinePlaywright({
  cwd,
  env,
  config: flag,
  injectDir = ownFile('playwright/inject/'),
}: Examination): Promise<Check[]> {
  const config = findPlaywrightConfig(cwd, flag);
  const playwright = findPlaywright(cwd, config.ok ? config.value : undefined);
  const checks = [
    playwright.ok
      ? passed('playwright', playwright.value.version)
      : ofProblem('playwright', playwright.error),
    config.ok
      ? passed('playwright config', path.relative(cwd, config.value))
      : ofProblem('playwright config', config.error),
  ];
  if (!playwright.ok || !config.ok) return checks;
  const place = { cwd, env, config: config.value, playwright: playwright.value, injectDir };
  return [...checks, ...(await checkSuite(place))];
}

async function examineAgents({ cwd, env, agents }: Examination): Promise<Check[]> {
  const settings = await loadSettings({ cwd, env, file: agents });
  if (!settings.ok) return [ofProblem('agents.yaml', settings.error)];
  const { file } = settings.value;
  const found = file === null ? 'not present: the built-in defaults apply' : path.relative(cwd, file);
  const usable = await withInstalledRunner(settings.value, cwd);
  return [
    passed('agents.yaml', found),
    ...(await checkRoutes(usable, { cwd, env })),
    ...checkWorkflow(cwd, usable),
    ...checkMemory(settings.value, { cwd, env }),
  ];
}

/** Warns in CI about a store that no earlier run has left, since what is tried there is tried and paid for again by the next run (PB-6). */
function checkMemory({ store }: Settings, { cwd, env }: Pick<Examination, 'cwd' | 'env'>): Check[] {
  if (!env['CI'] || store.includes('://') || existsSync(path.resolve(cwd, store))) return [];
  return [
    warning(
      'memory',
      `there is no ${store}: tries, questions and quarantines of earlier CI runs are not known here`,
      'Expected in the first run of a repository. Else cache the file, as the workflow of `npx self-heal init --ci` does, or name a postgres:// URL as `store`.',
    ),
  ];
}

/** Warns about a workflow of `init` that was written for another program. */
function checkWorkflow(cwd: string, settings: Settings): Check[] {
  const runners = agentsInUse(settings).map((name) => settings.agents[name]?.runner ?? '');
  const used = [...new Set(runners)].flatMap((runner) => programNamed(runner) ?? []);
  return outdatedWorkflows(gitRootOf(cwd) ?? cwd, used).map((file) =>
    warning(
      'ci',
      `${file} does not install the programs of agents.yaml`,
      'Run `npx self-heal init --ci`, or change the file.',
    ),
  );
}

function ofProblem(name: string, { message, detail, remedy }: Problem): Check {
  return failed(name, detail === undefined ? message : `${message}\n\n${detail}\n`, remedy);
}

/** The oldest supported version of Node, as in package.json. */
const oldest = [20, 19] as const;

export function checkNode(version: string): Check {
  return isAtLeast(version, oldest)
    ? passed('node', version)
    : failed('node', `${version} is too old`, `Install Node ${oldest.join('.')} or later.`);
}

/** Checks whether git is installed and recent enough, and whether it ignores `.self-heal`. */
export async function checkGit(place: ProbePlace): Promise<Check[]> {
  const { exitCode, output } = await probe(['git', '--version'], place);
  if (exitCode !== 0) {
    return [warning('git', 'not found', 'Install git: `self-heal guard` and coding agents need it.')];
  }
  const version = /\d+\.\d+[\w.]*/.exec(output)?.[0] ?? output.trim();
  return [checkVersion(version), await checkIgnored(place)];
}

/** `git log --diff-merges=first-parent`, which blame uses to find commits, exists since 2.31. */
function checkVersion(version: string): Check {
  if (isAtLeast(version, [2, 31])) return passed('git', version);
  return warning('git', version, 'Install git 2.31 or newer for `self-heal blame`; everything else works.');
}

async function checkIgnored(place: ProbePlace): Promise<Check> {
  const { exitCode, output } = await probe(['git', 'check-ignore', '--quiet', '.self-heal/runs/x'], place);
  if (exitCode === 0) return passed('ignore entry', 'git ignores .self-heal');
  if (exitCode === 1) return passed('ignore entry', 'not needed: a run makes git ignore .self-heal');
  if (gitRootOf(place.cwd) === null) return passed('ignore entry', 'not a git repository');
  return warning(
    'ignore entry',
    `git cannot read this repository: ${gitSays(output)}`,
    'Run `git status` here: it says what to do.',
  );
}

/** Checks whether `.self-heal` can be used, created and written, and removes whatever it created to find out. */
async function checkFolder(cwd: string): Promise<Check> {
  const problem = await stateProblem(cwd);
  if (problem) return failed('.self-heal', problem.message, problem.remedy);
  const folder = stateFolder(cwd);
  const file = stateFolder(cwd, `doctor-${process.pid}.tmp`);
  const wasThere = hasStateFolder(cwd);
  try {
    makeStateFolder(folder);
    writeState(file, '');
    await removeState(file);
    if (!wasThere) await rmdir(folder);
    return passed('.self-heal', 'writable');
  } catch (error) {
    const remedy = 'Make the project folder writable, or free some disk space.';
    return failed('.self-heal', `cannot be written: ${reasonOf(error)}`, remedy);
  }
}
