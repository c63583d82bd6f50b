import path from 'node:path';
import { systemClock } from '../../clock.js';
import type { Interrupts } from '../../process/interrupts.js';
import { startWatchdog } from '../../run/watchdog.js';
import type { Problem } from '../../problem.js';
import { causeJob, type CauseJob } from '../../queue/messages.js';
import type { TakenJob } from '../../queue/open-queue.js';
import { unpack } from '../../queue/packed.js';
import { patient, type Patience } from '../../queue/patient.js';
import { createSharedSpending } from '../../queue/shared-spending.js';
import type { WorkerTable } from '../../queue/worker-table.js';
import type { Result } from '../../result.js';
import { ok } from '../../result.js';
import type { ProjectLock } from '../../run/project-lock.js';
import { createRunFolder, newRunId } from '../../run/run-folder.js';
import { createRunStore } from '../../run/run-store.js';
import { createStore } from '../../store/create-store.js';
import type { Database } from '../../store/tables.js';
import type { Checked } from '../check-request.js';
import { cleanUp } from '../clean-up.js';
import { composeSession } from '../compose-session.js';
import { type Opened, openRun } from '../open-run.js';
import type { RunRequest } from '../run-request.js';
import { tally } from '../suite-runs.js';
import type { HealedHere } from './healed-here.js';
import { type Came, healJob, readJob } from './heal-job.js';
import { jobStore } from './job-store.js';

/** What a worker needs to heal. */
export interface WorkerParts {
  readonly request: RunRequest;
  readonly checked: Checked;
  readonly here: HealedHere;
  readonly lock: ProjectLock;
  readonly db: Database;
  readonly table: WorkerTable;
  readonly patience: Patience;
  readonly interrupts: Pick<Interrupts, 'started'>;
  /** Returns the current id of its row. */
  readonly rowId: () => string;
  readonly onCause: (causeId: string) => Promise<void>;
  readonly onAgent: (isAtWork: boolean) => void;
}

/** Heals the cause of a job as a separate run, with a run folder in this checkout. */
export async function takeJob(
  parts: WorkerParts,
  { data, waitedMs }: TakenJob,
  signal: AbortSignal,
): Promise<Result<Came, Problem>> {
  const { request, checked, lock, here } = parts;
  const job = unpack(data, causeJob);
  if (!job) return ok({ kind: 'refused', reason: 'the job cannot be read' });
  // The queue's name includes both, so this only catches a job that was written by hand.
  if (job.collected.commit !== here.commit || job.collected.project !== here.project)
    return ok({ kind: 'refused', reason: 'the job belongs to another commit or project' });
  await parts.onCause(job.causeId);
  const now = systemClock.now();
  const startedAt = now - job.elapsedMs - waitedMs;
  const folder = await createRunFolder(request.cwd, newRunId(now, systemClock.random()));
  if (!folder.ok) return folder;
  await lock.tell(folder.value.runId);
  parts.interrupts.started(folder.value.runId);
  using watchdog = startWatchdog(folder.value);
  const opened = await openRun(
    request,
    { ...checked, folder: folder.value, watchdog },
    { signal, startedAt },
  );
  try {
    return ok(await healed(parts, opened, job));
  } finally {
    await cleanUp(opened);
    watchdog.ended();
    await opened.bus.close();
  }
}

async function healed(parts: WorkerParts, opened: Opened, job: CauseJob): Promise<Came> {
  const { db, table, patience, rowId, onAgent, here } = parts;
  const { bus, folder, settings, playwright, redactor, startedAt, cwd } = opened;
  const { runId } = folder;
  bus.emit({
    type: 'run.started',
    runId,
    project: settings.project,
    cwd,
    playwright: playwright.version,
    dryRun: false,
    verify: settings.verify.level,
  });
  const run = await readJob(job, path.join(folder.dir, 'job'), { cwd, root: here.root });
  if ('refused' in run) return { kind: 'refused', reason: run.refused };
  const { run: first, known } = run;
  bus.emit({ type: 'suite.ended', purpose: 'first', causeId: null, ...tally(first.tests), durationMs: 0 });
  const shared = patient(
    createStore(db, settings.project, () => Date.now()),
    patience,
  );
  const mask = <T>(value: T) => redactor.deep(value);
  const store = jobStore(createRunStore({ store: shared, runId: job.runId, bus, mask }));
  opened.workspace.begin();
  const composed = await composeSession({ ...opened, store, first, known });
  const { agentRunsOnTest } = job;
  const spending = createSharedSpending({ table, worker: rowId, startedAt, agentRunsOnTest, onAgent });
  return healJob({ ...composed, store, spending }, job, first);
}
