import { rm } from 'node:fs/promises';
import process from 'node:process';
import { ownFile } from '../../own-files.js';
import { findPlaywrightConfig } from '../../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../../playwright/find-playwright.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { drillBrowser, type DrillBrowser } from './drill-browser.js';
import { drillEnv } from './drill-env.js';
import type { DrillResult } from './facts.js';
import { gatherFacts } from './gather-facts.js';
import { judgeDrills } from './judge-drills.js';
import { layOut, makeScratchDir } from './lay-out.js';
import { noReport, runThere } from './run-there.js';

/** Where a drill is held, and who hears of it. */
export interface DrillRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** What `-c` names. */
  readonly config?: string;
  /** Aborting ends it, and takes the scratch folder away. */
  readonly signal: AbortSignal;
  /** What goes on, a line at a time. */
  readonly onProgress: (line: string) => void;
}

/** A drill that came to its end. */
export interface HeldDrill {
  readonly results: readonly DrillResult[];
  /** Of the user's project. */
  readonly playwright: string;
  readonly browser: DrillBrowser;
  readonly durationMs: number;
  /** The scratch folder where a guard did not fire; null where all did, and it is gone. */
  readonly kept: string | null;
}

/** A drill that was interrupted; nothing of it is left. */
export type Interrupted = 'interrupted';

const injectDir = ownFile('playwright/inject/');

/**
 * Plants faults in a scratch copy, runs this very self-heal there as a process of its own, with the project's Playwright and browser
 * and a scripted agent, and judges what it did (CL-11). Touches nothing of the project.
 */
export async function runDrills(request: DrillRequest): Promise<Result<HeldDrill, Problem> | Interrupted> {
  const { cwd, config, signal } = request;
  const startedAt = performance.now();
  if (process.versions['pnp'] !== undefined) return err(plugAndPlay);
  const found = findPlaywrightConfig(cwd, config);
  const playwright = findPlaywright(cwd, found.ok ? found.value : undefined);
  if (!playwright.ok) return playwright;
  const dir = await makeScratchDir();
  if (!dir.ok) return dir;
  request.onProgress(`planting faults in a scratch copy: ${dir.value}`);
  const results = await hold(dir.value, playwright.value, request);
  const fired = results.ok && results.value.results.every(({ held }) => held);
  if (fired || signal.aborted) await remove(dir.value);
  if (signal.aborted) return 'interrupted';
  if (!results.ok) return results;
  const { version } = playwright.value;
  const durationMs = performance.now() - startedAt;
  return ok({ ...results.value, playwright: version, durationMs, kept: fired ? null : dir.value });
}

async function hold(
  dir: string,
  playwright: Playwright,
  request: DrillRequest,
): Promise<Result<Pick<HeldDrill, 'results' | 'browser'>, Problem>> {
  const browser = await drillBrowser({ ...request, playwright, injectDir });
  const scratch = await layOut(dir, { playwright, browser, env: drillEnv(request.env) });
  if (!scratch.ok) return scratch;
  const run = await runThere(scratch.value, request);
  const facts = await gatherFacts(scratch.value, run.leftovers);
  return facts ? ok({ results: judgeDrills(facts), browser }) : err(noReport(run, dir));
}

async function remove(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}

const plugAndPlay: Problem = {
  kind: 'usage',
  message: "the drill cannot be held under Yarn's Plug'n'Play, which has no folder of Playwright to link to",
  remedy: 'Set `nodeLinker: node-modules` in .yarnrc.yml, or hold it in a project that has one.',
};
