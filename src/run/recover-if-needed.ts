import { existsSync } from 'node:fs';
import path from 'node:path';
import { say } from '../outputs/say.js';
import type { Problem } from '../problem.js';
import { killedRuns } from './run-journal.js';

/** Puts in order what killed runs left in a project, and says so on standard error; gives what keeps it from that, or null. */
export async function recover(project: string): Promise<Problem | null> {
  // Nothing to do is the usual case, and loads nothing.
  const isOpen = existsSync(path.join(project, '.self-heal', 'journal.json'));
  if (!isOpen && (await killedRuns(project)).length === 0) return null;
  const { recoverKilledRuns } = await import('./recover.js');
  const recovered = await recoverKilledRuns(project);
  if (!recovered.ok) return recovered.error;
  if (recovered.value.length > 0) say(recovered.value.join('\n'));
  return null;
}
