import process from 'node:process';
import { isCancel, select } from '@clack/prompts';
import { programNamed, type AgentProgram } from '../agents/programs.js';
import { closest } from '../config/closest.js';
import { builtInRunners } from '../core/built-in-runner.js';
import { exitCodes, type Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

/** What decides which program is set up. */
export interface AgentChoice {
  /** What `--agent` named. */
  readonly named?: string;
  /** What agents.yaml names, where there is one already. */
  readonly configured: string | null;
  readonly found: readonly AgentProgram[];
  /** Whether somebody can be asked. */
  readonly isAskable: boolean;
}

/**
 * The agent program: the one that is named, else the one that is configured, else the one that somebody at a terminal chooses of
 * several, else the first that is found, else the default. An exit code where the question was cancelled.
 */
export async function chooseAgent(choice: AgentChoice): Promise<Result<AgentProgram, Problem | number>> {
  const { named, configured, found, isAskable } = choice;
  if (named !== undefined) return byName(named);
  const before = configured === null ? null : programNamed(configured);
  if (before) return ok(before);
  const [first] = found;
  if (first && found.length > 1 && isAskable) return ask(found);
  return byName(first?.name ?? 'claude');
}

function byName(name: string): Result<AgentProgram, Problem> {
  const program = programNamed(name);
  if (program) return ok(program);
  const near = closest(name, builtInRunners);
  return err({
    kind: 'usage',
    message: `there is no agent program ${JSON.stringify(name)} that can be set up`,
    remedy: `${near ? `Did you mean ${near}? ` : ''}Choose one of ${builtInRunners.join(', ')}; any other is described under "runners" in agents.yaml.`,
  });
}

async function ask(found: readonly AgentProgram[]): Promise<Result<AgentProgram, number>> {
  const answer = await select({
    message: 'Which agent program is to fix failing tests?',
    options: found.map((program) => ({ value: program, label: program.title, hint: program.name })),
    output: process.stderr,
  });
  return isCancel(answer) ? err(exitCodes.interrupted) : ok(answer);
}
