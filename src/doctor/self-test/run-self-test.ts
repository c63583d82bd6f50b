import { readFile, rm } from 'node:fs/promises';
import process from 'node:process';
import path from 'node:path';
import { ownFile } from '../../own-files.js';
import { findPlaywrightConfig } from '../../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../../playwright/find-playwright.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { selfTestBrowser, type SelfTestBrowser } from './self-test-browser.js';
import { selfTestEnv } from './self-test-env.js';
import { judgeScenarios, type ScenarioResult } from './judge-scenarios.js';
import type { SelfTestFacts } from './scenarios.js';
import { layOut, makeScratchDir, type Scratch } from './lay-out.js';
import { noReport, runThere, type ThereRequest } from './run-there.js';
import { processEntry } from '../../process/proc-table.js';
import { readReport } from '../../run/find-run.js';

/** Where to run a self-test, and how to report progress. */
export interface SelfTestRequest extends ThereRequest {
  readonly cwd: string;
  /** The value of `-c`. */
  readonly config?: string;
}

/** A completed self-test. */
export interface SelfTest {
  readonly results: readonly ScenarioResult[];
  /** The version of the project's Playwright. */
  readonly playwright: string;
  readonly browser: SelfTestBrowser;
  readonly durationMs: number;
  /** The scratch folder if a safeguard failed; null if all worked and it was removed. */
  readonly kept: string | null;
}

/** The self-test was interrupted and cleaned up. */
export type Interrupted = 'interrupted';

const injectDir = ownFile('playwright/inject/');

/**
 * Plants faults in a scratch copy, runs this self-heal there as a separate process, with the project's Playwright and browser and a
 * scripted agent, and judges the results (CL-11). Changes nothing in the project.
 */
export async function runSelfTest(
  request: SelfTestRequest,
): Promise<Result<SelfTest, Problem> | Interrupted> {
  const { cwd, config, signal } = request;
  const startedAt = performance.now();
  if (process.versions['pnp'] !== undefined) return err(plugAndPlay);
  const found = findPlaywrightConfig(cwd, config);
  const configFile = found.ok ? found.value : null;
  const playwright = findPlaywright(cwd, configFile ?? undefined);
  if (!playwright.ok) return playwright;
  const dir = await makeScratchDir();
  if (!dir.ok) return dir;
  request.onProgress(`planting faults in a scratch copy: ${dir.value}`);
  const results = await hold(dir.value, { ...request, playwright: playwright.value, config: configFile });
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
  request: Omit<SelfTestRequest, 'config'> & {
    readonly playwright: Playwright;
    readonly config: string | null;
  },
): Promise<Result<Pick<SelfTest, 'results' | 'browser'>, Problem>> {
  const browser = await selfTestBrowser({ ...request, injectDir });
  const scratch = await layOut(dir, {
    playwright: request.playwright,
    browser,
    env: selfTestEnv(request.env),
  });
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
  message: "the self-test cannot run under Yarn's Plug'n'Play, which has no Playwright folder to link to",
  remedy:
    'Set `nodeLinker: node-modules` in .yarnrc.yml, or run the self-test in a project that uses node_modules.',
};

/** Collects what the run left in the scratch folder and on this machine; null if it left no report. */
export async function gatherFacts(
  { project, state, planted }: Scratch,
  orphans: readonly string[],
): Promise<SelfTestFacts | null> {
  const report = await readReport(path.join(project, '.self-heal', 'latest'));
  if (report === null) return null;
  const changed = new Set<string>();
  for (const [file, text] of planted) {
    const now = await readFile(path.join(project, file), 'utf8').catch(() => null);
    if (now !== text) changed.add(file);
  }
  const pids = await readFile(path.join(state, 'pids.json'), 'utf8').catch(() => '[]');
  const started = JSON.parse(pids) as number[];
  const living = await Promise.all(started.map(isAlive));
  return {
    report,
    changed,
    started,
    alive: started.filter((_, index) => living[index]),
    orphans,
  };
}

/** A zombie that has not been reaped counts as dead. */
async function isAlive(pid: number): Promise<boolean> {
  if (process.platform !== 'win32') return (await processEntry(pid))?.zombie === false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
