import { rm } from 'node:fs/promises';
import process from 'node:process';
import { ownFile } from '../../own-files.js';
import { findPlaywrightConfig } from '../../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../../playwright/find-playwright.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { selfTestBrowser, type SelfTestBrowser } from './self-test-browser.js';
import { selfTestEnv } from './self-test-env.js';
import type { ScenarioResult } from './facts.js';
import { gatherFacts } from './gather-facts.js';
import { judgeScenarios } from './judge-scenarios.js';
import { layOut, makeScratchDir } from './lay-out.js';
import { noReport, runThere } from './run-there.js';

/** Where a self-test runs, and who hears of it. */
export interface SelfTestRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** What `-c` names. */
  readonly config?: string;
  /** Aborting ends it, and takes the scratch folder away. */
  readonly signal: AbortSignal;
  /** What goes on, a line at a time. */
  readonly onProgress: (line: string) => void;
}

/** A self-test that came to its end. */
export interface SelfTest {
  readonly results: readonly ScenarioResult[];
  /** Of the user's project. */
  readonly playwright: string;
  readonly browser: SelfTestBrowser;
  readonly durationMs: number;
  /** The scratch folder where a guard did not fire; null where all did, and it is gone. */
  readonly kept: string | null;
}

/** A self-test that was interrupted; nothing of it is left. */
export type Interrupted = 'interrupted';

const injectDir = ownFile('playwright/inject/');

/**
 * Plants faults in a scratch copy, runs this very self-heal there as a process of its own, with the project's Playwright and browser
 * and a scripted agent, and judges what it did (CL-11). Touches nothing of the project.
 */
export async function runSelfTest(
  request: SelfTestRequest,
): Promise<Result<SelfTest, Problem> | Interrupted> {
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
  request: SelfTestRequest,
): Promise<Result<Pick<SelfTest, 'results' | 'browser'>, Problem>> {
  const browser = await selfTestBrowser({ ...request, playwright, injectDir });
  const scratch = await layOut(dir, { playwright, browser, env: selfTestEnv(request.env) });
  if (!scratch.ok) return scratch;
  const run = await runThere(scratch.value, request);
  const facts = await gatherFacts(scratch.value, run.orphans);
  return facts ? ok({ results: judgeScenarios(facts), browser }) : err(noReport(run, dir));
}

async function remove(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}

const plugAndPlay: Problem = {
  kind: 'usage',
  message: "the self-test cannot run under Yarn's Plug'n'Play, which has no folder of Playwright to link to",
  remedy: 'Set `nodeLinker: node-modules` in .yarnrc.yml, or run it in a project that has one.',
};
