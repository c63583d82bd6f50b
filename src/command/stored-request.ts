import path from 'node:path';
import { z } from 'zod';
import { verifyLevels } from '../model/settings.js';
import { isInside, real } from '../paths.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { RunState } from '../run/run-state.js';
import { findRoot } from '../workspace/project-files.js';

const flag = z.boolean().exactOptional();
const number = z.number().exactOptional();
const text = z.string().exactOptional();

/** The command as typed. A store is never stored: its URL may hold a password. */
const requestShape = z.object({
  filters: z.array(z.string()),
  passThrough: z.array(z.string()),
  options: z.object({
    config: text,
    grep: text,
    grepInvert: text,
    project: z.array(z.string()).exactOptional(),
    shard: text,
    workers: z.union([z.string(), z.number()]).exactOptional(),
    repeatEach: number,
    retries: number,
    timeout: number,
    lastFailed: flag,
    onlyChanged: z.union([z.string(), z.boolean()]).exactOptional(),
    headed: flag,
    agents: text,
    verify: z.enum(verifyLevels).exactOptional(),
  }),
});

/** The selection and settings of a stored run, with which a patch of it is proven again. */
export type StoredRequest = z.infer<typeof requestShape>;

/** Reads what a stored run asked for: a `Problem` if it is not as self-heal stores it, or names a place outside of the project. */
export async function storedRequestOf(
  { runId, request }: Pick<RunState, 'runId' | 'request'>,
  cwd: string,
): Promise<Result<StoredRequest, Problem>> {
  const read = requestShape.safeParse(request);
  if (!read.success) return err(unreadable(runId));
  const { config, agents } = read.data.options;
  const root = await findRoot(cwd);
  const outside = [config, agents].find((file) => file && !isInside(root, real(path.resolve(cwd, file))));
  return outside ? err(leadsOut(runId, outside)) : ok(read.data);
}

function unreadable(runId: string): Problem {
  return {
    kind: 'store-unreadable',
    message: `what is stored of run ${runId} is damaged`,
    remedy: 'Start a new one with `self-heal run`.',
  };
}

function leadsOut(runId: string, file: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} was given ${file}, which is outside of the project`,
    remedy:
      'Start a new one with `self-heal run` and the same flags: what is stored may have come from anybody.',
  };
}
