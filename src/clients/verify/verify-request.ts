import type { ProofDepth } from '../../model/verification.js';
import { findLastRed, listRerunIds } from '../inspect/last-red.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { verify } from '../../commands.js';
import type { CommandRequest } from '../../command/run.js';
import type { RunOptions, RunRequest } from '../../command/run-request.js';

/** The options of `self-heal verify`. */
export interface VerifyFlags extends Pick<RunOptions, 'config' | 'project' | 'agents' | 'json' | 'wait'> {
  /** The commit to compare with, instead of the state in which the last red run ran. */
  readonly base?: string | undefined;
  /** How thorough the proof is. Default: `full`. */
  readonly depth?: ProofDepth | undefined;
  /** Lets an agent review the change. */
  readonly review?: boolean | undefined;
  /** The tests that the change should fix. Default: those that the last red run left red. */
  readonly filters?: readonly string[] | undefined;
}

/** Creates the request that proves the changes in the working tree (HN-12); a `Problem` if neither filters nor a red run name tests. */
export async function createVerifyRequest(
  project: Pick<RunRequest, 'cwd' | 'env'>,
  { base, depth = 'full', review = false, filters = [], ...flags }: VerifyFlags,
): Promise<Result<CommandRequest, Problem>> {
  const red = await findLastRed(project.cwd);
  if (red === null && filters.length === 0) return err(noRedRun);
  const onlyIds = filters.length === 0 && red ? await listRerunIds(project.cwd, red) : [];
  // No agent starts to fix anything, and the proof is as thorough as in a run that heals.
  const options: RunOptions = { ...flags, dryRun: true, verify: 'full' };
  const request = { ...project, name: 'verify', filters, passThrough: [], options };
  return ok({ request, command: verify({ depth, review, base: base ?? null, red }, onlyIds) });
}

const noRedRun: Problem = {
  kind: 'usage',
  message: 'no run here has left a failing test, so self-heal cannot know which tests the changes should fix',
  remedy: 'Name the tests: self-heal verify tests/cart.spec.ts:9 --base main.',
};
