import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { findPlaywrightConfig } from '../../playwright/find-config.js';
import { findPlaywright } from '../../playwright/find-playwright.js';
import { supervise, type Ending } from '../../process/supervise.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { drillBrowser, type DrillBrowser } from './drill-browser.js';
import { drillEnv } from './drill-env.js';
import type { DrillResult } from './facts.js';
import { gatherFacts } from './gather-facts.js';
import { judgeDrills } from './judge-drills.js';
import { layOut, makeScratchDir, type Scratch } from './lay-out.js';

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

const selfHeal = fileURLToPath(new URL('../../../bin/self-heal.js', import.meta.url));
const injectDir = fileURLToPath(new URL('../../playwright/inject/', import.meta.url));

/** It takes one minute on a slow machine; after five something is stuck, and that is a result. */
const TIMEOUT_MS = 5 * 60_000;
/** The run ends its agents and browsers in this time when it is interrupted. */
const GRACE_MS = 20_000;
/** Of what the run printed, so much is shown where it came to no report. */
const TAIL_LINES = 15;

/**
 * Plants faults in a scratch copy, runs this very self-heal there as a process of its own, with the project's Playwright and browser
 * and a scripted agent, and judges what it did (CL-11). Touches nothing of the project.
 */
export async function runDrills(request: DrillRequest): Promise<Result<HeldDrill, Problem> | Interrupted> {
  const { cwd, env, config, signal } = request;
  const startedAt = performance.now();
  if (process.versions['pnp'] !== undefined) return err(plugAndPlay);
  const found = findPlaywrightConfig(cwd, config);
  const playwright = findPlaywright(cwd, found.ok ? found.value : undefined);
  if (!playwright.ok) return playwright;
  const dir = await makeScratchDir();
  if (!dir.ok) return dir;
  request.onProgress(`planting faults in a scratch copy: ${dir.value}`);
  const browser = await drillBrowser({ ...request, playwright: playwright.value, injectDir });
  const ingredients = { playwright: playwright.value, browser, env: drillEnv(env) };
  const scratch = await layOut(dir.value, ingredients);
  const run = await runThere(scratch, request);
  if (signal.aborted) {
    await remove(scratch.dir);
    return 'interrupted';
  }
  const facts = await gatherFacts(scratch, run.leftovers);
  if (!facts) return err(noReport(run, scratch));
  const results = judgeDrills(facts);
  const kept = results.every(({ held }) => held) ? null : scratch.dir;
  if (kept === null) await remove(scratch.dir);
  const { version } = playwright.value;
  return ok({ results, playwright: version, browser, durationMs: performance.now() - startedAt, kept });
}

interface RunThere {
  readonly ending: Ending;
  readonly leftovers: readonly string[];
  /** The last lines that it printed. */
  readonly tail: string;
}

async function runThere({ project }: Scratch, request: DrillRequest): Promise<RunThere> {
  const lines: string[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  const { ending, leftovers } = await supervise({
    file: process.execPath,
    args: [selfHeal, 'run', '--json'],
    cwd: project,
    env: drillEnv(request.env),
    input: '',
    marker: { name: 'SELF_HEAL_DRILL_ID', value: randomUUID() },
    timeoutMs: TIMEOUT_MS,
    graceMs: GRACE_MS,
    signal: request.signal,
    onStart: () => undefined,
    onOutput: (chunk, from) => {
      // Standard output is the report, which is read from its file.
      if (from === 'stdout') return;
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        lines.push(line);
        if (line.startsWith('self-heal ')) request.onProgress(line.slice('self-heal '.length));
      }
    },
  }).ended;
  return { ending, leftovers, tail: [...lines, rest].slice(-TAIL_LINES).join('\n').trim() };
}

async function remove(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}

const plugAndPlay: Problem = {
  kind: 'usage',
  message: "the drill cannot be held under Yarn's Plug'n'Play, which has no folder of Playwright to link to",
  remedy: 'Set `nodeLinker: node-modules` in .yarnrc.yml, or hold it in a project that has one.',
};

function noReport({ ending, tail }: RunThere, { dir }: Scratch): Problem {
  return {
    kind: 'usage',
    message: `the run of the drill left no report: ${endingText(ending)}`,
    detail: tail,
    remedy: `\`self-heal doctor\` may say what is missing. The scratch copy was kept: ${dir}`,
  };
}

function endingText(ending: Ending): string {
  switch (ending.kind) {
    case 'exited':
      return `it exited with ${ending.exitCode}`;
    case 'signalled':
      return `it was ended by ${ending.signal}`;
    case 'timed-out':
      return `it was ended after ${TIMEOUT_MS / 60_000} minutes`;
    case 'spawn-failed':
      return ending.reason;
    case 'aborted':
    case 'stopped':
      return 'it was interrupted';
    default:
      return ending satisfies never;
  }
}
