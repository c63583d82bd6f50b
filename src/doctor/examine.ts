import path from 'node:path';
import { agentsInUse, withInstalledRunner } from '../agents/check-agents.js';
import { loadSettings } from '../config/load-settings.js';
import { programNamed } from '../agents/programs.js';
import type { Settings } from '../core/settings.js';
import { gitRootOf } from '../git/git-root.js';
import { misfits } from '../init/ci-workflow.js';
import { ownFile } from '../own-files.js';
import { findPlaywrightConfig } from '../playwright/find-config.js';
import { findPlaywright } from '../playwright/find-playwright.js';
import type { Problem } from '../problem.js';
import { bad, doubtful, good, type Check } from './check.js';
import { checkFolder, checkGit, checkNode } from './check-machine.js';
import { checkRoutes } from './check-programs.js';
import { checkSuite } from './check-suite.js';

/** What to examine. */
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
    playwright.ok ? good('playwright', playwright.value.version) : ofProblem('playwright', playwright.error),
    config.ok
      ? good('playwright config', path.relative(cwd, config.value))
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
    good('agents.yaml', found),
    ...(await checkRoutes(usable, { cwd, env })),
    ...checkWorkflow(cwd, usable),
  ];
}

/** Warns about a workflow of `init` that was written for another program. */
function checkWorkflow(cwd: string, settings: Settings): Check[] {
  const runners = agentsInUse(settings).map((name) => settings.agents[name]?.runner ?? '');
  const used = [...new Set(runners)].flatMap((runner) => programNamed(runner) ?? []);
  return misfits(gitRootOf(cwd) ?? cwd, used).map((file) =>
    doubtful(
      'ci',
      `${file} does not install the programs of agents.yaml`,
      'Run `npx self-heal init --ci`, or change the file.',
    ),
  );
}

function ofProblem(name: string, { message, detail, remedy }: Problem): Check {
  return bad(name, detail === undefined ? message : `${message}\n\n${detail}\n`, remedy);
}
