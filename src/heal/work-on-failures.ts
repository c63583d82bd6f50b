import type { Settings } from '../core/settings.js';
import { nameOf } from '../outputs/format.js';
import { showPlan } from '../outputs/terminal.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';
import { noStore, type RunStore } from '../run/run-store.js';
import type { ShardCount } from '../playwright/reports/check-reports.js';
import type { Checked } from './check-request.js';
import type { BlameRequest } from './compose-blame.js';
import type { Finished } from './finish-run.js';
import { shardsIn, typed } from './first-run.js';
import type { Opened } from './open-run.js';
import type { Healed } from './progress.js';
import { goneTests, type Resumed } from './resumed.js';
import type { RunRequest } from './run-request.js';
import type { Session } from './session.js';
import type { ReportedRun, Reports } from './reported-run.js';
import { tellSeen } from './tell-tests.js';

/** A request that passed its checks, with the reports that it heals from. */
export type Ready = Checked & { readonly reports: Reports | null };

/** What a run has done about its failures. */
export type Worked = Pick<Finished, 'healed' | 'store' | 'totals'>;

/** Of a run in which nothing is red. */
export const green: Worked = {
  healed: { causes: [], suiteRed: false, paused: false },
  store: noStore,
  totals: () => ({ agentRuns: 0, costUsd: null }),
};

/** Heals what is red, or only plans it. */
export async function work(
  request: RunRequest,
  opened: Opened,
  { first, ...checked }: Ready & { readonly first: SuiteRun } & Pick<ReportedRun, 'reportedRed'>,
): Promise<Result<Worked, Problem>> {
  const shards = checked.reports ?? request.resumed?.shards ?? null;
  const store = await remember(request, { ...opened, shards });
  if (!store.ok) return store;
  // Loaded only after the suite, because people wait for Playwright to start.
  const { composeSession } = await import('./compose-session.js');
  const session = await composeSession({
    ...opened,
    store: store.value,
    first,
    reportedRed: checked.reportedRed,
    ...(request.resumed ? { kept: request.resumed.kept } : {}),
    ...(request.chosenFor ? onlyChosen(checked.settings) : blameOf(request, checked.settings)),
  });
  return ok({
    healed: await planOrHeal(request, session, first),
    store: store.value,
    totals: () => session.spending.totals(),
  });
}

/** Only the tests of the question are known, so that what else depends on the patch is left to the next run of the suite. */
function onlyChosen(settings: Settings) {
  return {
    onlyChosen: true,
    settings: { ...settings, verify: { ...settings.verify, regression: 'none' } },
  } as const;
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
  opened: Opened & { readonly shards: ShardCount | null },
): Promise<Result<RunStore, Problem>> {
  const { resumed, options } = request;
  if (options.dryRun) return ok(noStore);
  const { openRunStore } = await import('./open-run-store.js');
  const store = await openRunStore({ ...opened, runId: opened.folder.runId });
  const asked = { ...typed(request), ...shardsIn(opened.shards) };
  if (store.ok) await store.value.started(asked, resumed?.runId ?? null);
  return store;
}
