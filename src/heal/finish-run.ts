import path from 'node:path';
import { buildReport } from './build-report.js';
import type { Bus } from '../run/bus.js';
import { outcomeOf } from '../core/outcome.js';
import { exitCodes } from '../core/exit-codes.js';
import { leaveForPrograms, showResult } from '../outputs/leave-result.js';
import { say } from '../outputs/say.js';
import type { ShardCount } from '../shards/check-shards.js';
import type { RunRecord } from './run.js';
import { dropAllUnmasked } from '../run/mask-suite-folder.js';
import type { Session } from './session.js';
import { writeFileAtomic } from '../write-file-atomic.js';
import type { Interrupts } from '../process/interrupts.js';
import type { RunRequest } from './run-request.js';

/** A run at its end. */
export interface Finished {
  session: Session;
  record: RunRecord;
  startedAt: number;
  /** What it ran on, where all was committed. */
  commit: string | null;
  /** Those that it healed from; null where it ran the suite itself. */
  shards: ShardCount | null;
  warnings: string[];
  bus: Bus;
  interrupts: Interrupts;
}

/** Writes and shows what a run came to; gives its exit code. */
export async function finishRun(request: RunRequest, finished: Finished): Promise<number> {
  const { session, record, startedAt, bus, warnings } = finished;
  const { options } = request;
  const final = outcomeOf({
    tests: record.tests.map((one) => one.verdict),
    causes: record.causes,
    suiteRed: record.suiteRed,
    paused: record.paused,
    interruptedBy: finished.interrupts.by(),
    failOnHeal: options.failOnHeal ?? false,
    failOnFlaky: options.failOnFlakyTests ?? false,
  });
  await dropAllUnmasked(session.folder.dir);
  const { redactor } = session;
  const built = buildReport(session, record, {
    final,
    startedAt,
    dryRun: options.dryRun ?? false,
    warnings,
    resumedFrom: request.resumed?.runId ?? null,
    commit: finished.commit,
    shards: finished.shards,
  });
  const report = redactor.deep(built);
  const { flaky } = report.totals;
  await session.store.ended({ ...final, flaky, agentRunsAvoided: report.totals.agentRunsAvoided });
  const place = { dir: session.folder.dir, cwd: request.cwd, env: request.env, options };
  // Another tool's report that cannot be written is not the run's failure: report.json and the terminal say so.
  for (const warning of await leaveForPrograms(report, place)) {
    bus.emit({ type: 'run.warning', message: warning });
    report.warnings.push(redactor.clean(warning));
  }
  await writeFileAtomic(path.join(place.dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  const { agentRuns, agentRunsAvoided, costUsd, durationMs } = report.totals;
  bus.emit({ type: 'run.ended', ...final, durationMs, agentRuns, agentRunsAvoided, costUsd });
  const broken = await bus.close();
  for (const problem of broken) say(redactor.clean(problem));
  await showResult(report, place);
  return broken.length > 0 && final.exitCode === exitCodes.green ? exitCodes.red : final.exitCode;
}
