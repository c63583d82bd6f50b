import path from 'node:path';
import type { Bus } from '../run/bus.js';
import { findPlaywright, type Playwright } from '../playwright/find-playwright.js';
import { runSuite, type SuiteOptions } from '../playwright/run-suite.js';
import type { PlaywrightArgs } from '../playwright/selection.js';
import { isRed, isTracedTwice, type SuiteRun, type TestResult } from '../playwright/suite-run.js';
import type { SuitePurpose } from '../event.js';
import type { RerunRequest, SuiteCallbacks } from '../heal/session.js';
import type { RunFolder } from '../run/run-folder.js';
import { maskSuiteFolder } from '../run/mask-suite-folder.js';
import type { RunPlan } from '../run/run-plan.js';
import type { MaskFinder } from '../secrets/redactor.js';
import type { WorkingCopy } from '../workspace/workspace.js';

/** Runs the project's Playwright. */
export interface SuiteRuns {
  /** Runs the user's own selection with their reporters and terminal; `stdout` is the file descriptor that Playwright prints to. */
  runFirst(stdout: number, callbacks?: SuiteCallbacks): Promise<SuiteRun>;
  rerun(request: RerunRequest): Promise<SuiteRun>;
}

/** The options that all Playwright runs of one self-heal run share. */
export interface SuiteRunsOptions {
  readonly playwright: Playwright;
  readonly cwd: string;
  readonly folder: RunFolder;
  readonly args: PlaywrightArgs;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly bus: Bus;
  readonly plan: RunPlan;
  /** Masks the logs that a run leaves behind. */
  readonly redactor: MaskFinder;
}

/** Starts Playwright runs, each in its own folder (`suites/<n>`), and announces them on the bus. */
export function createSuiteRuns(options: SuiteRunsOptions): SuiteRuns {
  const selfTracedIds = new Set<string>();
  const run = async (
    mode: SuiteOptions['mode'],
    {
      signal = options.signal,
      callbacks = {},
      workingCopy,
      red,
      ...context
    }: Omit<RerunRequest, 'ids' | 'brokenBuild' | 'how'>,
    { env = {}, about }: Pick<NonNullable<RerunRequest['how']>, 'env' | 'about'> = {},
  ) => {
    const ids = mode.kind === 'rerun' ? mode.ids : null;
    const planned = options.plan.begin(ids);
    const aboutField = about === undefined ? {} : { about };
    const redField = ids !== null && red !== undefined && red < ids.length ? { red } : {};
    options.bus.emit({
      type: 'suite.started',
      tests: ids?.length ?? null,
      ...context,
      ...aboutField,
      ...redField,
      ...planned,
    });
    const runDir = path.join(options.folder.dir, 'suites', String(planned.n));
    const fetcher = mode.kind === 'rerun' && mode.trace ? await openFetcher() : null;
    const target = workingCopy ? moveIntoCopy(options, workingCopy) : options;
    const { playwright, cwd, args } = target;
    const suite = await runSuite({
      playwright,
      cwd,
      args,
      runDir,
      runId: options.folder.runId,
      env: { ...target.env, ...env },
      signal,
      mode,
      ...callbacks,
      ...(fetcher ? { onFailedTry: (failure) => fetcher.fetchScripts(failure) } : {}),
      onProgress: (progress) => {
        options.bus.emit({ type: 'suite.progress', ...progress });
        callbacks.onProgress?.(progress);
      },
    });
    options.plan.recordEnd(suite);
    await maskSuiteFolder(runDir, { isRed: isRed(suite), redactor: options.redactor });
    if (suite.didNotExit) options.bus.emit({ type: 'run.warning', message: lingeringWarning });
    const { tests, durationMs } = suite;
    options.bus.emit({ type: 'suite.ended', ...context, ...countOutcomes(tests), durationMs });
    return fetcher ? { ...suite, scripts: fetcher.scripts } : suite;
  };
  return {
    runFirst: (stdout, callbacks = {}) =>
      // oxlint-disable-next-line no-restricted-properties -- the user's own reporter prints there, as without self-heal
      run({ kind: 'first', stdout, stderr: process.stderr }, { purpose: 'first', causeId: null, callbacks }),
    rerun: async ({ ids, brokenBuild = null, how, ...context }) => {
      const needsTrace = how?.trace ?? tracedPurposes.has(context.purpose);
      const hasOwnTrace = needsTrace && (ids ?? []).some((id) => selfTracedIds.has(id));
      const trace = needsTrace && !hasOwnTrace;
      const mode = { kind: 'rerun', ids, trace, brokenBuild, extraArgs: how?.args ?? [] } as const;
      const suite = await run(mode, context, how);
      for (const { test } of suite.failures.filter(isTracedTwice)) selfTracedIds.add(test.id);
      return hasOwnTrace ? { ...suite, tracing: 'own' } : suite;
    },
  };
}

/** Replaces the project's folder with the copy's in arguments and environment. */
function moveIntoCopy({ playwright, args, env }: SuiteRunsOptions, { cwd, toCopyPaths }: WorkingCopy) {
  const inCopy = findPlaywright(cwd);
  const mapTexts = (texts: readonly string[]) => texts.map(toCopyPaths);
  return {
    cwd,
    playwright: inCopy.ok ? inCopy.value : playwright,
    args: { ...args, first: mapTexts(args.first), rerun: mapTexts(args.rerun), byId: mapTexts(args.byId) },
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value && toCopyPaths(value)])),
  };
}

/** The purposes of runs that record a trace, because their failures become an agent's evidence. Other runs only show which tests are green. */
const tracedPurposes: ReadonlySet<SuitePurpose> = new Set(['confirm', 'retest']);

/** Loaded only for a run with a trace (CL-4). */
async function openFetcher() {
  const { ScriptFetcher } = await import('../evidence/source-maps/fetched-scripts.js');
  return new ScriptFetcher();
}

const lingeringWarning =
  'Playwright finished its run but did not exit within 5 minutes, so it was stopped: a reporter of the project is probably still waiting for something.';

/** Counts the tests of a run by outcome. */
export function countOutcomes(tests: readonly TestResult[]) {
  const count = (outcome: TestResult['outcome']) => tests.filter((test) => test.outcome === outcome).length;
  return {
    total: tests.length,
    passed: count('expected'),
    failed: count('unexpected'),
    flaky: count('flaky'),
    skipped: count('skipped'),
    notRun: count('not-run'),
  };
}
