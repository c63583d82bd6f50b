import path from 'node:path';
import { buildReport } from '../heal/build-report.js';
import type { Bus } from '../run/bus.js';
import { outcomeOf } from '../core/outcome.js';
import { gitRootOf } from '../init/git-root.js';
import { exitCodes } from '../problem.js';
import { paletteFor, unpainted } from '../outputs/palette.js';
import type { Report } from '../run/report.js';
import { summaryOf } from '../outputs/summary.js';
import type { RunRecord } from '../heal/run.js';
import { dropAllUnmasked } from '../run/mask-suite-folder.js';
import type { Session } from '../heal/session.js';
import { writeFileAtomic } from '../write-file-atomic.js';
import type { Interrupts } from './interrupts.js';
import { isTerse } from './is-terse.js';
import type { RunRequest } from './run-self-heal.js';

/** A run at its end. */
export interface Finished {
  session: Session;
  record: RunRecord;
  startedAt: number;
  /** What it ran on, where all was committed. */
  commit: string | null;
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
  });
  const report = redactor.deep(built);
  const { flaky } = report.totals;
  await session.memory.ended({ ...final, flaky, agentRunsAvoided: report.totals.agentRunsAvoided });
  await leave(request, report, { session, bus });
  await writeFileAtomic(path.join(session.folder.dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  const { agentRuns, agentRunsAvoided, costUsd, durationMs } = report.totals;
  bus.emit({ type: 'run.ended', ...final, durationMs, agentRuns, agentRunsAvoided, costUsd });
  const broken = await bus.close();
  for (const trouble of broken) process.stderr.write(`self-heal: ${redactor.clean(trouble)}\n`);
  const { dir } = session.folder;
  const folder = { dir, shown: path.relative(request.cwd, dir).replaceAll(path.sep, '/') };
  if (!isQuiet(report)) await leavePage(report, folder);
  show(request, folder.shown, report);
  return broken.length > 0 && final.exitCode === exitCodes.green ? exitCodes.red : final.exitCode;
}

/** Another tool's report that cannot be written is not the run's failure: report.json and the terminal say so. */
async function leave(
  { cwd, env }: RunRequest,
  report: Report,
  { session, bus }: Pick<Finished, 'session' | 'bus'>,
) {
  const { leaveReports } = await import('../outputs/leave-reports.js');
  const print = (line: string) => process.stderr.write(`${line}\n`);
  for (const warning of await leaveReports(report, { dir: session.folder.dir, cwd, env, print })) {
    bus.emit({ type: 'run.warning', message: warning });
    report.warnings.push(session.redactor.clean(warning));
  }
}

/** For people, and only where there is something to see: what draws it is loaded late (CL-4). */
async function leavePage(report: Report, folder: { dir: string; shown: string }): Promise<void> {
  try {
    const { writeHtmlReport } = await import('../outputs/html/write-html-report.js');
    await writeHtmlReport(report, folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`self-heal: report.html could not be written: ${why}\n`);
  }
}

function show({ cwd, env, options }: RunRequest, folder: string, report: Report): void {
  if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (isQuiet(report)) return;
  const terse = isTerse(env, options);
  const text = summaryOf(report, {
    paint: terse ? unpainted : paletteFor(env),
    columns: process.stderr.columns || 120,
    rows: process.stderr.rows,
    folder,
    inGit: gitRootOf(cwd) !== null,
    terse,
  });
  process.stderr.write(`${text}\n`);
}

/** Green, and nothing to tell. */
function isQuiet({ outcome, causes, totals, tests }: Report): boolean {
  const quarantined = tests.some((test) => test.verdict === 'quarantined');
  return outcome === 'green' && causes.length === 0 && totals.flaky === 0 && !quarantined;
}
