import { findProgram, type ProgramPlace } from '../process/find-program.js';
import { agentPrograms, type AgentProgram } from './agent-programs.js';

/** The agent programs that are installed, in the order in which one is chosen. */
export async function findAgents(place: ProgramPlace): Promise<AgentProgram[]> {
  const places = await Promise.all(agentPrograms.map(({ name }) => findProgram(name, place)));
  return agentPrograms.filter((_, index) => places[index] !== null);
}
