import { systemClock } from '../clock.js';
import type { Settings } from '../core/settings.js';
import { nameOf } from '../outputs/format.js';
import { showPlan } from '../outputs/terminal.js';
import { isRed, type SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import type { Patience } from '../queue/patient.js';
import { ok, type Result } from '../result.js';
import { noStore, type RunStore } from '../run/run-store.js';
import type { ShardCount } from '../shards/check-shards.js';
import type { ShardRun } from '../shards/read-shard.js';
import type { Checked } from './check-request.js';
import type { BlameRequest } from './compose-blame.js';
import type { Finished } from './finish-run.js';
import { shardsIn, typed } from './first-run.js';
import type { Opened } from './open-run.js';
import type { Healed } from './progress.js';
import { goneTests, type Resumed } from './resumed.js';
import type { RunRequest } from './run-request.js';
import type { Session } from './session.js';
import type { Shards } from './shards.js';
import { tellSeen } from './tell-tests.js';
import type { HealedHere } from './workers/healed-here.js';
import type { Queued } from './workers/open-workers.js';
import type { Workers } from './workers/workers.js';

/** A request that passed its checks, with its shards and its queue. */
export type Ready = Checked & { readonly shards: Shards | null; readonly queued: HealedHere | null };

/** What a run has done about its failures. */
export interface Worked extends Pick<Finished, 'healed' | 'store' | 'totals'> {
  /** Closes the connection to the workers, if any. */
  close(isOver: boolean): Promise<void>;
}

/** Of a run in which nothing is red. */
export const green: Worked = {
  healed: { causes: [], suiteRed: false, paused: false },
  store: noStore,
  totals: () => ({ agentRuns: 0, costUsd: null }),
  close: async () => undefined,
};

/** Heals what is red, or only plans it. */
export async function work(
  request: RunRequest,
  opened: Opened,
  ready: Ready & { readonly first: SuiteRun; readonly known: ShardRun['known'] },
): Promise<Result<Worked, Problem>> {
  const queued = ready.queued && { here: ready.queued, patience: await patienceOf(opened) };
  // Before the store, so that a run that may not send its causes leaves nothing in it.
  const workers = await workersOf(opened, ready.first, queued);
  if (!workers.ok) return workers;
  // Its heartbeats would keep the place of the coordinator, and this process, for good.
  const giveUp = () => workers.value?.close(false).catch(() => undefined);
  try {
    const worked = await workWith(request, opened, { ...ready, queued, workers: workers.value });
    if (!worked.ok) await giveUp();
    return worked;
  } catch (error) {
    await giveUp();
    throw error;
  }
}

interface Working extends Omit<Ready, 'queued'> {
  readonly first: SuiteRun;
  readonly known: ShardRun['known'];
  readonly queued: Queued | null;
  readonly workers: Workers | null;
}

async function workWith(
  request: RunRequest,
  opened: Opened,
  { first, known, queued, workers, ...checked }: Working,
): Promise<Result<Worked, Problem>> {
  const shards = checked.shards ?? request.resumed?.shards ?? null;
  const store = await remember(request, { ...opened, shards, patience: queued?.patience });
  if (!store.ok) return store;
  // Loaded only after the suite, because people wait for Playwright to start.
  const { composeSession } = await import('./compose-session.js');
  const session = await composeSession({
    ...opened,
    store: store.value,
    first,
    ...(workers ? { workers } : {}),
    ...(checked.shards ? { known } : {}),
    ...(request.resumed ? { kept: request.resumed.kept } : {}),
    ...blameOf(request, checked.settings),
  });
  return ok({
    healed: await planOrHeal(request, session, first),
    store: store.value,
    totals: () => session.spending.totals(),
    close: async (isOver) => workers?.close(isOver),
  });
}

/** Creates the patience with which a queued run waits for its store, without which neither it nor its workers can continue. */
async function patienceOf({ bus, signal }: Opened): Promise<Patience> {
  const { createPatience, longestAwayMs } = await import('../queue/patient.js');
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  return createPatience({
    clock: systemClock,
    signal,
    forMs: longestAwayMs,
    onAway: (reason) => warn(`Cannot reach the store (${reason}); retrying.`),
    onBack: () => warn('The store is reachable again.'),
  });
}

async function workersOf(
  opened: Opened,
  first: SuiteRun,
  queued: Queued | null,
): Promise<Result<Workers | null, Problem>> {
  if (queued === null || !isRed(first)) return ok(null);
  const { openWorkers } = await import('./workers/open-workers.js');
  return openWorkers(opened, first, queued);
}

/** A dry run changes nothing in the project, not even temporarily, so it does not search for changes to blame. */
function blameOf({ blame, options }: RunRequest, settings: Settings): { blame?: BlameRequest } {
  if (blame) return { blame: { ...blame, always: true } };
  return options.dryRun || !settings.blame.enabled ? {} : { blame: { base: null, always: false } };
}

async function planOrHeal(
  { blame, options, resumed }: RunRequest,
  session: Session,
  first: SuiteRun,
): Promise<Healed> {
  if (resumed) tellResumed(session, resumed, first);
  tellSeen(session, first);
  if (blame) {
    const { blameRun } = await import('./blame-run.js');
    return blameRun(session, first);
  }
  if (options.dryRun) {
    const { planRun } = await import('./plan-run.js');
    return planRun(session, first, options.json ? () => undefined : showPlan);
  }
  const { healRun } = await import('./run.js');
  return healRun(session, first);
}

/** Carries over what an earlier run has finished (ME-8), and what it had not and cannot be run any more. */
function tellResumed({ bus }: Session, resumed: Resumed, first: SuiteRun): void {
  const gone = goneTests(resumed, first);
  bus.emit({ type: 'tests.seen', tests: [...resumed.carried, ...gone] });
  if (gone.length === 0) return;
  const names = gone.map(nameOf).join(', ');
  const message = `Still red, because they no longer exist under these names: ${names}. Start a new run with \`self-heal run\`.`;
  bus.emit({ type: 'run.warning', message });
}

/** Opens the store; a dry run stores nothing. */
async function remember(
  request: RunRequest,
  opened: Opened & { readonly shards: ShardCount | null; readonly patience: Patience | undefined },
): Promise<Result<RunStore, Problem>> {
  const { resumed, options } = request;
  if (options.dryRun) return ok(noStore);
  const { openRunStore } = await import('./open-run-store.js');
  const store = await openRunStore({ ...opened, runId: opened.folder.runId });
  const asked = { ...typed(request), ...shardsIn(opened.shards) };
  if (store.ok) await store.value.started(asked, resumed?.runId ?? null);
  return store;
}
