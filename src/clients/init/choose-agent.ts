import { type AgentProgram, listPrograms, findAgentProgram } from '../../agents/programs.js';
import { findClosest } from '../../config/closest.js';
import { builtIn } from '../../model/built-in.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { findProgram, type SearchContext } from '../../process/find-program.js';
import { readAgentsFile } from '../../config/agents-file.js';
import { readYaml } from '../../config/read-yaml.js';

interface AgentChoice {
  /** The value of `--agent`. */
  readonly flag?: string | undefined;
  /** The runner in an existing agents.yaml, or null. */
  readonly configured: string | null;
  readonly installed: readonly AgentProgram[];
}

/** Chooses the agent program from the flag, or agents.yaml, or else the first installed one. Returns null to use only the built-in fixer. */
export function chooseAgent({
  flag,
  configured,
  installed,
}: AgentChoice): Result<AgentProgram | null, Problem> {
  if (flag !== undefined) return chooseByName(flag);
  if (configured === builtIn) return ok(null);
  const program = configured === null ? null : findAgentProgram(configured);
  return ok(program ?? installed[0] ?? null);
}

function chooseByName(name: string): Result<AgentProgram | null, Problem> {
  const program = findAgentProgram(name);
  if (program || name === builtIn) return ok(program);
  const names = listPrograms().map((agentProgram) => agentProgram.name);
  const near = findClosest(name, [...names, builtIn]);
  return err({
    kind: 'usage',
    message: `unknown agent program ${JSON.stringify(name)}`,
    remedy: `${near ? `Did you mean ${near}? ` : ''}Choose one of ${names.join(', ')}, or ${builtIn} for none; any other program can be configured under "runners" in agents.yaml.`,
  });
}

/** Returns the installed agent programs, in order of preference. */
export async function findAgents(project: SearchContext): Promise<AgentProgram[]> {
  const all = listPrograms();
  const paths = await Promise.all(all.map(({ file }) => findProgram(file, project)));
  return all.filter((_, index) => paths[index] !== null);
}

/** Returns the runner set in agents.yaml, even if that file has mistakes; null if none is set. */
export async function readConfiguredRunner(cwd: string): Promise<string | null> {
  const file = await readAgentsFile(cwd);
  if (!file.ok || !file.value) return null;
  const { data } = readYaml(file.value.text, null);
  const runner: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'runner') : null;
  return typeof runner === 'string' ? runner : null;
}
