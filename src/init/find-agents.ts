import { programs, type AgentProgram } from '../agents/programs.js';
import { findProgram, type ProgramPlace } from '../process/find-program.js';

/** The agent programs that are installed, in the order in which one is chosen. */
export async function findAgents(place: ProgramPlace): Promise<AgentProgram[]> {
  const all = Object.values(programs);
  const places = await Promise.all(all.map(({ name }) => findProgram(name, place)));
  return all.filter((_, index) => places[index] !== null);
}
