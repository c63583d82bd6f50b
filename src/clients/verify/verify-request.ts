import type { ProofDepth } from '../../model/verification.js';
import { findLastRed, listRerunIds } from '../inspect/last-red.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { verify } from '../../commands.js';
import type { CommandRequest } from '../../command/run.js';
import type { RunOptions, RunRequest } from '../../command/run-request.js';

/** The options of `self-heal verify`. */
export interface VerifyFlags extends Pick<RunOptions, 'config' | 'project' | 'agents' | 'json' | 'wait'> {
  /** The commit to compare with, instead of what the last red run ran on. */
  readonly base?: string | undefined;
  /** How thorough the proof is; `full` if absent. */
  readonly depth?: ProofDepth | undefined;
  /** Whether an agent reads the change. */
  readonly review?: boolean | undefined;
  /** The tests that the change is for; if there are none, those that the last red run left red. */
  readonly filters?: readonly string[] | undefined;
}

/** Returns the run that proves the changes in the working tree (HN-12); a `Problem` if nothing says which tests they are for. */
export async function verifyRequest(
  project: Pick<RunRequest, 'cwd' | 'env'>,
  { base, depth = 'full', review = false, filters = [], ...own }: VerifyFlags,
): Promise<Result<CommandRequest, Problem>> {
  const red = await findLastRed(project.cwd);
  if (red === null && filters.length === 0) return err(nothingRed);
  const onlyIds = filters.length === 0 && red ? await listRerunIds(project.cwd, red) : [];
  // No agent is started that fixes, and the proof is that of a full heal.
  const options: RunOptions = { ...own, dryRun: true, verify: 'full' };
  const request = { ...project, name: 'verify', filters, passThrough: [], options };
  return ok({ request, command: verify({ depth, review, base: base ?? null, red }, onlyIds) });
}

const nothingRed: Problem = {
  kind: 'usage',
  message: 'no run here has left a failing test, so nothing says what the changes are for',
  remedy: 'Name the tests: self-heal verify tests/cart.spec.ts:9 --base main.',
};
