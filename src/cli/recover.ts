import { describeRecovery, recoverKilledRuns } from '../recover.js';

/** Puts in order what killed runs left in a project, and says so on standard error. */
export async function recover(projectRoot: string): Promise<void> {
  for (const recovery of await recoverKilledRuns(projectRoot)) {
    process.stderr.write(`self-heal: ${describeRecovery(recovery).join('\n')}\n`);
  }
}
