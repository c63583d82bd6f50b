import { killedRuns } from '../running.js';

/** Puts in order what killed runs left in a project, and says so on standard error. */
export async function recover(projectRoot: string): Promise<void> {
  // Nothing to do is the usual case, and loads nothing.
  if ((await killedRuns(projectRoot)).length === 0) return;
  const { describeRecovery, recoverKilledRuns } = await import('../recover.js');
  for (const recovery of await recoverKilledRuns(projectRoot)) {
    process.stderr.write(`self-heal: ${describeRecovery(recovery).join('\n')}\n`);
  }
}
