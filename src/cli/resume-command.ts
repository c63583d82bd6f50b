import { Command } from 'commander';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { StoredRun } from '../store/ledger.js';
import { end } from './end.js';
import { openLedger } from './open-ledger.js';
import { addTerseFlags, type RunOptions } from './options.js';
import { resumedFrom } from './resumed.js';
import { runSelfHeal, type RunRequest } from './run-self-heal.js';

interface ResumeOptions {
  agents?: string;
  json?: boolean;
  terse?: boolean;
}

/** `self-heal resume`: goes on with a killed, paused or limited run where it stood, with its counts (ME-8). */
export function resumeCommand(): Command {
  return addTerseFlags(new Command('resume'))
    .description('go on with a run that was killed, interrupted, paused or stopped by a limit')
    .argument('[run]', 'its id, the name of its folder in .self-heal/runs; the newest run if none is named')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('--json', 'print report.json to standard output')
    .action(async (runId: string | undefined, options: ResumeOptions) => end(await resume(runId, options)));
}

async function resume(runId: string | undefined, options: ResumeOptions): Promise<number | Problem> {
  const found = await unfinishedRun(runId ?? null, options.agents);
  if (!found.ok) return found.error;
  const run = found.value;
  const typed = run.request as Pick<RunRequest, 'filters' | 'passThrough' | 'options'>;
  const own: RunOptions = { ...typed.options, ...options };
  process.stderr.write(`self-heal goes on with run ${run.runId}\n`);
  return runSelfHeal({
    ...typed,
    cwd: process.cwd(),
    env: process.env,
    options: own,
    resumed: resumedFrom(run),
  });
}

async function unfinishedRun(
  runId: string | null,
  agents: string | undefined,
): Promise<Result<StoredRun, Problem>> {
  const opened = await openLedger(agents);
  if (!opened.ok) return opened;
  const run = (await opened.value?.ledger.run(runId)) ?? null;
  await opened.value?.ledger.close();
  if (!run) {
    const what = runId === null ? 'No run has been stored' : `There is no run ${runId} in the store`;
    return err({ kind: 'usage', message: what, remedy: 'Start one: self-heal run.' });
  }
  if (run.outcome === 'green' || run.outcome === 'red') {
    const message = `Run ${run.runId} came to its end (${run.outcome}), and left nothing to go on with`;
    return err({ kind: 'usage', message, remedy: 'Start a new one: self-heal run.' });
  }
  return ok(run);
}
