import type { Command } from 'commander';
import { endWith } from './end.js';
import { addAgentsFlag, addStoreFlag, addVerifyFlag, addWaitFlag } from './options.js';
import type { Problem } from '../problem.js';
import { askAfterRun } from './resolve-escalation.js';
import type { ProjectLock } from '../run/project-lock.js';
import type { RunOptions } from '../heal/run-request.js';
import { askedOf, resumedFrom, type Resumed } from '../heal/resumed.js';
import { runSelfHeal } from '../heal/whole-run.js';
import { underLockOfRuns } from '../heal/under-lock.js';
import { unfinishedRun } from '../run/unfinished-run.js';
import { runDirOf } from '../run/run-folder.js';

/** `self-heal resume`: continues a killed, paused or limited run where it stopped, with its counts (ME-8). */
export function define(command: Command): Command {
  return addStoreFlag(addAgentsFlag(addVerifyFlag(addWaitFlag(command))))
    .argument('[run]', 'its id, the name of its folder in .self-heal/runs (default: the newest run)')
    .option('--json', 'print report.json to standard output')
    .action(endWith(runResume));
}

/** The flags of `self-heal resume`. */
type ResumeOptions = Pick<RunOptions, 'agents' | 'parallel' | 'verify' | 'store' | 'json' | 'wait'>;

/** Runs `self-heal resume`; returns the exit code, or the problem that prevented it from continuing. */
async function runResume(runId: string | undefined, options: ResumeOptions): Promise<number | Problem> {
  const { wait = false, ...asked } = options;
  // Takes the lock before looking the run up: another process may hold it to continue that very run.
  const ended = await underLockOfRuns({ cwd: process.cwd(), command: 'resume', wait }, (lock) =>
    goOn(runId, asked, lock),
  );
  return askAfterRun(ended, options);
}

async function goOn(
  runId: string | undefined,
  options: ResumeOptions,
  lock: ProjectLock | null,
): Promise<number | Problem> {
  const projectRoot = process.cwd();
  const found = await unfinishedRun(projectRoot, runId ?? null);
  if (!found.ok) return found.error;
  const run = found.value;
  const asked = await askedOf(run, projectRoot);
  if (!asked.ok) return asked.error;
  const { filters, passThrough, options: typed, flaky } = asked.value;
  const own: RunOptions = { ...typed, ...options };
  const resumed = resumedFrom(run, runDirOf(projectRoot, run.runId), flaky);
  process.stderr.write(
    `self-heal continues run ${run.runId}: ${flaky ? 'its selection is measured from the start, and its fixes are kept' : whatIsLeft(resumed, own)}\n`,
  );
  const held = lock === null ? {} : { lock };
  const request = { cwd: projectRoot, env: process.env, filters, passThrough, options: own };
  return runSelfHeal({ ...request, resumed, ...held, ...(flaky && { flaky }) });
}

function whatIsLeft({ open, carried }: Resumed, { from }: RunOptions): string {
  if (open === null)
    return `it stopped before it knew which tests fail, so ${from ? 'its shards are read' : 'the whole selection runs'} again`;
  const rest = open.length === 1 ? '1 test is left' : `${open.length} tests are left`;
  return carried.length === 0 ? rest : `${rest}, ${carried.length} already finished`;
}
