import type { Problem } from '../problem.js';
import { recoverKilledRuns } from '../recover.js';

/** Puts in order what killed runs left in a project, and says so on standard error; gives what keeps it from that, or null. */
export async function recover(project: string): Promise<Problem | null> {
  const recovered = await recoverKilledRuns(project);
  if (!recovered.ok) return recovered.error;
  if (recovered.value.length > 0) process.stderr.write(`self-heal: ${recovered.value.join('\n')}\n`);
  return null;
}
