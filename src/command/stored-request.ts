import path from 'node:path';
import { z } from 'zod';
import { verifyLevels } from '../model/settings.js';
import { isInside, resolveLinks } from '../paths.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { RunState } from '../run/run-state.js';
import { findRoot } from '../workspace/project-files.js';

const flag = z.boolean().exactOptional();
const number = z.number().exactOptional();
const text = z.string().exactOptional();

/** The command line of a run. It omits `--store`, whose URL may contain a password. */
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

/** The selection and settings of a stored run, for proving one of its patches again. */
export type StoredRequest = z.infer<typeof requestShape>;

/** Parses the request of a stored run. Returns a `Problem` if self-heal did not write it in this form, or if it names a file outside the project. */
export async function parseStoredRequest(
  { runId, request }: Pick<RunState, 'runId' | 'request'>,
  cwd: string,
): Promise<Result<StoredRequest, Problem>> {
  const parsed = requestShape.safeParse(request);
  if (!parsed.success) return err(createDamagedProblem(runId));
  const { config, agents } = parsed.data.options;
  const root = await findRoot(cwd);
  const outsideFile = [config, agents].find(
    (file) => file && !isInside(root, resolveLinks(path.resolve(cwd, file))),
  );
  return outsideFile ? err(createOutsideProblem(runId, outsideFile)) : ok(parsed.data);
}

function createDamagedProblem(runId: string): Problem {
  return {
    kind: 'store-unreadable',
    message: `the stored request of run ${runId} is damaged`,
    remedy: 'Start a new run with `self-heal run`.',
  };
}

function createOutsideProblem(runId: string, file: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} used ${file}, which is outside the project`,
    remedy:
      'Start a new run with `self-heal run` and the same flags: the stored request may come from somebody else.',
  };
}
