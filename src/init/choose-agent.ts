import { type AgentProgram, programNamed, programs } from '../agents/programs.js';
import { chosen } from '../outputs/ask.js';
import { closest } from '../config/closest.js';
import { builtIn, builtInRunners } from '../core/built-in.js';
import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { findProgram, type ProgramPlace } from '../process/find-program.js';
import { readAgentsFile } from '../config/agents-file.js';
import { readYaml } from '../config/read-yaml.js';

interface AgentChoice {
  /** The value of `--agent`. */
  readonly named?: string | undefined;
  /** The runner in an existing agents.yaml, or null. */
  readonly configured: string | null;
  readonly found: readonly AgentProgram[];
  /** Whether a person can be prompted. */
  readonly isAskable: boolean;
}

/**
 * Chooses the agent program: the one named by a flag, or the configured one, or the user's choice if several are found and a person can be
 * prompted, or the first one found. Returns null for the built-in fixer alone, and an exit code if the prompt was canceled.
 */
export async function chooseAgent(
  choice: AgentChoice,
): Promise<Result<AgentProgram | null, Problem | number>> {
  const { named, configured, found, isAskable } = choice;
  if (named !== undefined) return byName(named);
  if (configured === builtIn) return ok(null);
  const before = configured === null ? null : programNamed(configured);
  if (before) return ok(before);
  const [first = null] = found;
  return found.length > 1 && isAskable ? ask(found) : ok(first);
}

function byName(name: string): Result<AgentProgram | null, Problem> {
  const program = programNamed(name);
  if (program || name === builtIn) return ok(program);
  const near = closest(name, [...builtInRunners, builtIn]);
  return err({
    kind: 'usage',
    message: `unknown agent program ${JSON.stringify(name)}`,
    remedy: `${near ? `Did you mean ${near}? ` : ''}Choose one of ${builtInRunners.join(', ')}, or ${builtIn} for none; any other program can be configured under "runners" in agents.yaml.`,
  });
}

async function ask(found: readonly AgentProgram[]): Promise<Result<AgentProgram, number>> {
  const options = found.map((program) => ({ value: program, label: program.title, hint: program.name }));
  const answer = await chosen('Which agent program should fix failing tests?', options);
  return answer === null ? err(exitCodes.interrupted) : ok(answer);
}

/** Returns the installed agent programs, in order of preference. */
export async function findAgents(place: ProgramPlace): Promise<AgentProgram[]> {
  const all = Object.values(programs);
  const places = await Promise.all(all.map(({ name }) => findProgram(name, place)));
  return all.filter((_, index) => places[index] !== null);
}

/** Returns the runner set in agents.yaml, even if that file has mistakes; null if none is set. */
export async function configuredRunner(cwd: string): Promise<string | null> {
  const file = await readAgentsFile(cwd);
  if (!file.ok || !file.value) return null;
  const { data } = readYaml(file.value.text, null);
  const runner: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'runner') : null;
  return typeof runner === 'string' ? runner : null;
}
