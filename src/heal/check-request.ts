import { missingAgents, withInstalledRunner } from '../agents/check-agents.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../core/settings.js';
import { findPlaywrightConfig } from '../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../playwright/find-playwright.js';
import { interactiveFlagProblem } from '../playwright/unattended.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Reports } from './reported-run.js';
import type { MadeElsewhere } from './matrix.js';
import type { RunRequest } from './run-request.js';

/** What must be available before anything is run. */
export interface Checked {
  readonly settings: Settings;
  readonly playwright: Playwright;
  /** Agents that cannot be started here; empty if none is needed. */
  readonly missing: ReadonlyMap<string, Problem>;
  /** The reports that say what to run here (SC-1); null if the suite itself runs. */
  readonly reports: Reports | null;
  /** The fixes of other machines, which are tried instead of agents; null if agents are started here. */
  readonly patches: readonly MadeElsewhere[] | null;
}

/** Checks what a run needs before anything is run. */
export async function checkRequest(request: RunRequest): Promise<Result<Checked, Problem>> {
  const { cwd, env, options, passThrough } = request;
  const waiting = interactiveFlagProblem(passThrough);
  if (waiting) return err(waiting);
  const config = findPlaywrightConfig(cwd, options.config);
  const playwright = findPlaywright(cwd, config.ok ? config.value : undefined);
  if (!playwright.ok) return playwright;
  if (!config.ok) return config;
  const { agents, verify, parallel, store } = options;
  // For `--agents 4`, commander also sets an empty file name.
  const named = { file: agents || undefined, store: store || undefined };
  const loaded = await loadSettings({ cwd, env, verify, parallel, ...named });
  if (!loaded.ok) return loaded;
  // In these modes no agent is started here.
  const isShown = options.dryRun === true || options.patches !== undefined;
  const settings = isShown ? loaded.value : await withInstalledRunner(loaded.value, cwd);
  const missing = isShown ? new Map<string, Problem>() : await missingAgents(settings, cwd);
  const patches = options.patches ? await patchesIn(options.patches) : ok(null);
  if (!patches.ok) return patches;
  const reports = await reportsFor(request);
  return reports.ok
    ? ok({ settings, playwright: playwright.value, missing, patches: patches.value, reports: reports.value })
    : reports;
}

async function patchesIn(folders: readonly string[]): Promise<Result<readonly MadeElsewhere[], Problem>> {
  const { readPatches } = await import('./matrix.js');
  return readPatches(folders);
}

async function reportsFor(request: RunRequest): Promise<Result<Reports | null, Problem>> {
  const { from } = request.options;
  // If it is known which tests are left, only those are run.
  if (from === undefined || (request.resumed && request.resumed.open !== null)) return ok(null);
  const { reportsOf } = await import('./reported-run.js');
  return reportsOf(request, from);
}
