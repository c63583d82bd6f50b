import type { DiagnosedFailure } from '../core/cause.js';
import { takenPortOf } from '../core/classify/advice.js';
import { type Listener, listenerOn } from '../process/listener.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { isInside } from '../paths.js';

/**
 * Looks at the machine for what a failure alone can't tell: who holds the port that a web server of the config wants, and whose server a suite
 * has reused. Returns a sentence if only a person can mend it, null if it is for the code after all, and undefined if there was nothing to look at.
 */
export async function lookAtMachine(
  { failure, evidence, diagnosis }: Pick<DiagnosedFailure, 'failure' | 'evidence' | 'diagnosis'>,
  { reusedServer }: Pick<SuiteRun, 'reusedServer'>,
  workspaceDir: string,
): Promise<string | null | undefined> {
  const port = failure.scope === 'suite' && diagnosis.advice ? takenPortOf(evidence, diagnosis.why) : null;
  if (port !== null) {
    const listener = await listenerOn(port);
    // The suite's own servers are gone: two of them wanted the same port.
    if (listener === null) return null;
    return `port ${port}, which a web server of the config wants, is held by ${named(listener)}: stop it, or give the suite another port`;
  }
  if (!reusedServer || failure.scope === 'suite') return undefined;
  const reused = portOf(reusedServer);
  const listener = reused === null ? null : await listenerOn(reused);
  // Its folder shows whose server it is; where the system does not tell, the run has warned of it.
  if (!listener?.folder || isInside(workspaceDir, listener.folder)) return undefined;
  return `the tests ran against ${reusedServer}, which is not this project's server but ${named(listener)}: stop it, or set reuseExistingServer: false`;
}

function named({ pid, command, folder }: Listener): string {
  if (pid === null) return 'another program';
  const place = folder === null ? '' : `, in ${folder}`;
  return `\`${command}\` (pid ${pid}${place})`;
}

function portOf(address: string): number | null {
  if (!URL.canParse(address)) return null;
  const { port, protocol } = new URL(address);
  return Number(port || (protocol === 'https:' ? 443 : 80));
}
