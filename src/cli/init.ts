import path from 'node:path';
import type { Command } from 'commander';
import { builtIn } from '../model/built-in.js';
import { createAction } from './end-command.js';
import { configFlag } from './options.js';
import { type AgentProgram, listPrograms } from '../agents/programs.js';
import { type CiSystem, detectCiSystem, ciSystems } from '../clients/init/ci-workflow.js';
import { findGitRoot } from '../workspace/git.js';
import {
  planInit,
  needsWriting,
  type InitFile,
  formatPlan,
  formatTexts,
  writePlan,
} from '../clients/init/plan-init.js';
import { packageFile } from '../own-files.js';
import { findPlaywrightConfig } from '../playwright/find-config.js';
import { findPlaywright } from '../playwright/find-playwright.js';
import { findPackageManager } from '../playwright/package-manager.js';
import { exitCodes } from '../model/exit-codes.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { chooseAgent, readConfiguredRunner, findAgents } from '../clients/init/choose-agent.js';

/** `self-heal init`: sets up a project (CL-10). */
export function define(command: Command): Command {
  const names = listPrograms().map(({ name }) => name);
  return command
    .option(
      '--agent <name>',
      `set up this agent program: ${names.join(', ')}; or built-in for none (default: the first one on PATH)`,
    )
    .option(
      '--ci [system]',
      'also write a CI workflow: github or gitlab (default: the one that this repository uses)',
    )
    .option('--mcp', "add self-heal's MCP server to .mcp.json, for your own coding agent")
    .option(...configFlag)
    .option('--dry-run', 'show what would be written without writing it')
    .option('--force', 'overwrite files that differ, instead of showing a diff')
    .addHelpText(
      'after',
      '\nRunning it again is safe: it leaves files that differ alone, and shows a diff of\nwhat --force would change.',
    )
    .action(createAction(runInit));
}

/** The flags of `self-heal init`. */
export interface InitOptions {
  agent?: string;
  ci?: string | true;
  config?: string;
  dryRun?: boolean;
  mcp?: boolean;
  force?: boolean;
}

/** Runs `self-heal init`; returns the exit code, or the problem that prevented writing. */
export async function runInit(options: InitOptions): Promise<number | Problem> {
  const { env } = process;
  const cwd = process.cwd();
  const config = findPlaywrightConfig(cwd, options.config);
  if (!config.ok) return config.error;
  const ci = await chooseCi(options.ci, findGitRoot(cwd) ?? cwd);
  if (!ci.ok) return ci.error;
  const installed = await findAgents({ cwd, env });
  const chosen = chooseAgent({
    flag: options.agent,
    configured: await readConfiguredRunner(cwd),
    installed,
  });
  if (!chosen.ok) return chosen.error;
  const agent = chosen.value;
  printLine(`Playwright config: ${path.relative(cwd, config.value)}`);
  printLine(`Package manager: ${findPackageManager(cwd).name}`);
  const { config: configFlagValue, force = false, dryRun = false, mcp = false } = options;
  const plan = await planInit({ cwd, agent, ci: ci.value, config: configFlagValue, force, mcp });
  if (!plan.ok) return plan.error;
  const problem = dryRun ? null : await writePlan(plan.value, findGitRoot(cwd) ?? cwd);
  if (problem) return problem;
  printLine(
    `Agent programs: ${installed.map(({ name }) => name).join(', ') || 'none on PATH'}; ${describeSetUp(agent, plan.value)}`,
  );
  process.stdout.write(formatPlan(plan.value, dryRun));
  if (dryRun) process.stdout.write(formatTexts(plan.value));
  else {
    const hasWritten = plan.value.some(needsWriting);
    for (const step of listNextSteps(cwd, { installed, agent, ci: hasWritten ? ci.value : null }))
      printLine(step);
  }
  return exitCodes.green;
}

/** Describes which agent program the project is now set up for. If agents.yaml was changed by hand, that file decides. */
function describeSetUp(agent: AgentProgram | null, files: readonly InitFile[]): string {
  const keptFile = files.find(({ name, action }) => /^agents\.ya?ml$/.test(name) && action === 'keep');
  if (keptFile)
    return `${keptFile.name} was changed by hand and stays as it is; --force sets up ${agent?.name ?? `the ${builtIn} fixer`}`;
  return agent ? `set up for ${agent.name}` : `the ${builtIn} fixer works alone`;
}

function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function chooseCi(
  flag: string | true | undefined,
  root: string,
): Promise<Result<CiSystem | null, Problem>> {
  if (flag === undefined) return ok(null);
  const system = flag === true ? await detectCiSystem(root) : ciSystems.find((system) => system === flag);
  if (system) return ok(system);
  return err({
    kind: 'usage',
    message:
      flag === true
        ? `no CI system was found: ${root} has no GitHub or GitLab remote, no .github and no .gitlab-ci.yml`
        : `self-heal has no workflow for ${JSON.stringify(flag)}`,
    remedy: `Choose one: ${ciSystems.map((system) => `--ci ${system}`).join(' or ')}.`,
  });
}

/** Lists what the user has to do next. `ci` is the CI system for which `init` has just written a workflow, or null. */
function listNextSteps(
  cwd: string,
  {
    installed,
    agent,
    ci,
  }: { installed: readonly AgentProgram[]; agent: AgentProgram | null; ci: CiSystem | null },
): string[] {
  const { add, exec } = findPackageManager(cwd);
  const [first] = installed;
  return [
    ...(findPlaywright(cwd).ok ? [] : [`→ Playwright is not installed here: ${add} @playwright/test`]),
    ...(agent && !installed.includes(agent)
      ? [
          `→ ${agent.title} was not found: ${agent.packageName ? `npm install -g ${agent.packageName}` : `install ${agent.file}`}`,
        ]
      : []),
    ...(agent ? [] : [describeAddingAgent(first, exec)]),
    ...(ci === 'gitlab'
      ? ['→ Add to .gitlab-ci.yml: include: [{ local: .gitlab/self-heal.gitlab-ci.yml }]']
      : []),
    ...(ci === null ? [] : [`→ For shards or a matrix of causes: ${findLargerWorkflows(ci, cwd)}`]),
    ...(agent && ci !== null
      ? [
          agent.keyVariable
            ? `→ Add a CI secret named ${agent.keyVariable}.`
            : `→ In the workflow, add a step that installs ${agent.file} and a variable with its key.`,
        ]
      : []),
    `→ Next: ${exec} self-heal doctor`,
  ];
}

/** Returns a glob pattern for the example workflows that use several machines. */
function findLargerWorkflows(ci: CiSystem, cwd: string): string {
  return path.join(path.relative(cwd, packageFile('docs/ci')), `${ci}-*.yml`);
}

/** Explains how to set up an agent program. */
function describeAddingAgent(installed: AgentProgram | undefined, exec: string): string {
  const add = `${exec} self-heal init --agent ${installed?.name ?? 'claude'} --force`;
  return installed
    ? `→ ${installed.title} is installed: ${add} sets it up`
    : `→ No agent program is set up: the ${builtIn} fixer makes only fixes it is sure of. After installing one, run: ${add}`;
}
