import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { systemClock } from '../clock.js';
import type { TestFailure, WebServer } from '../model/failure.js';
import { ownFile } from '../own-files.js';
import { addPackageBins } from '../process/find-program.js';
import { findListeningAddresses } from '../process/listener.js';
import { type BrokenBuild, watchBuild } from './broken-build.js';
import type { Playwright } from './find-playwright.js';
import { type PlaywrightExit, runPlaywright } from './playwright-process.js';
import { injectEnv, runFiles } from './report-format.js';
import { addLine, createEmptyReport, followReport, type SuiteProgress } from './report-state.js';
import type { PlaywrightArgs } from './selection.js';
import { createSuiteRun } from './create-suite-run.js';
import type { SuiteRun } from './suite-run.js';
import { createUnattendedEnv } from './unattended.js';

/** One run of the user's suite. */
export interface SuiteOptions {
  readonly playwright: Playwright;
  /** The folder in which Playwright is started. */
  readonly cwd: string;
  /** A folder for this run alone; created if it does not exist. */
  readonly runDir: string;
  /** Passed as `SELF_HEAL_RUN_ID` to every process that the run starts. */
  readonly runId: string;
  readonly args: PlaywrightArgs;
  readonly mode: FirstRun | Rerun;
  /** Default: self-heal's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Called once Playwright's process has been started, or has failed to start. */
  readonly onStart?: () => void;
  readonly onProgress?: (progress: SuiteProgress) => void;
  /** Called with each failed try of a traced run, while the suite's servers are still running. */
  readonly onFailedTry?: (failure: TestFailure) => Promise<void>;
  /** How long an interrupted Playwright may take to stop its servers, in milliseconds; default: 10,000. */
  readonly graceMs?: number;
  /** How long Playwright may take to exit after its run, in milliseconds. The default of five minutes is for reporters that upload. */
  readonly exitTimeoutMs?: number;
  /** The folder with the compiled `inject/` files; default: the one in this package. */
  readonly injectDir?: string;
}

/** The user's own run, with their selection, reporters and terminal. */
interface FirstRun {
  readonly kind: 'first';
  /** The file descriptor that Playwright prints to: 1, or 2 if stdout is reserved for data. */
  readonly stdout: number;
  readonly stderr: Writable;
}

/** A run that self-heal starts: exactly the tests in `ids`, or the whole selection if null. Playwright's output goes to `playwright.log` in `runDir`. */
interface Rerun {
  readonly kind: 'rerun';
  readonly ids: readonly string[] | null;
  /** True if Playwright records a trace of each test, for the evidence. Tracing costs a fifth of the run's time. */
  readonly trace?: boolean;
  /** Further arguments, such as `--workers=1`; they replace the user's. */
  readonly extraArgs?: readonly string[];
  /** An earlier build error. If it still keeps the web server from starting, the run ends before the server's time limit. */
  readonly brokenBuild?: BrokenBuild | null;
}

const defaultGraceMs = 10_000;
const defaultExitMs = 5 * 60_000;

/**
 * Runs the project's Playwright once and returns the result (CL-3, CS-10). Snapshots are never updated: a baseline that Playwright wrote by itself
 * would look like a heal (CL-1). Rejects only if `runDir` cannot be written.
 */
export async function runSuite(options: SuiteOptions): Promise<SuiteRun> {
  const { runDir, signal, onProgress, mode } = options;
  const isTraced = mode.kind === 'rerun' && mode.trace === true;
  const startedAt = systemClock.now();
  await prepareRunFolder(options);
  const state = createEmptyReport();
  const exited = new AbortController();
  const stop = new AbortController();
  const stopBecause = (reason: 'lingering' | 'broken-build' | 'not-examined') => stop.abort(reason);
  const build = mode.kind === 'rerun' ? (mode.brokenBuild ?? null) : null;
  const stopWatching =
    build &&
    watchBuild({
      serverLog: path.join(runDir, runFiles.serverLog),
      line: build.line,
      startedAt,
      now: () => systemClock.now(),
      onBroken: () => stopBecause('broken-build'),
    });
  let examined = 0;
  let examination = Promise.resolve();
  let serverPorts: SuiteRun['serverPorts'];
  const examineFailure = async (failure: TestFailure, previous: Promise<void>) => {
    await previous;
    serverPorts ??= await findListeningPorts(state.configured?.webServers ?? []);
    await options.onFailedTry?.(failure);
    examined += 1;
    await writeFile(path.join(runDir, runFiles.examined), String(examined));
  };
  const reportEnd = followReport(
    path.join(runDir, runFiles.report),
    // The last test of a traced run waits until its failures have been examined.
    { finished: exited.signal, pollMs: isTraced ? 50 : 200 },
    (lines) => {
      const { progress } = state;
      for (const line of lines) addLine(state, line);
      if (state.progress !== progress) onProgress?.(state.progress);
      if (lines.some(({ type }) => type === 'begin')) stopWatching?.();
      for (const line of isTraced ? lines : [])
        if (line.type === 'failed-try') {
          examination = examineFailure(line.failure, examination);
          // After an error, the last test would wait in vain.
          examination.catch(() => stopBecause('not-examined'));
        }
      // A reporter may wait for a user after the run. If Playwright has exited already, this is the last read of its report.
      if (lines.some(({ type }) => type === 'end') && !exited.signal.aborted) {
        const timer = setTimeout(() => stopBecause('lingering'), options.exitTimeoutMs ?? defaultExitMs);
        exited.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
      }
    },
  );
  const running = startPlaywright(options, AbortSignal.any([signal, stop.signal])).finally(() => {
    stopWatching?.();
    exited.abort();
  });
  options.onStart?.();
  const exit = await running;
  await reportEnd;
  await examination;
  const endedAt = systemClock.now();
  const isBroken = stop.signal.reason === 'broken-build' && !signal.aborted;
  const problems = await readFile(path.join(runDir, runFiles.problems), 'utf8').catch(() => '');
  const { end: _end, ...withoutEnd } = state;
  return createSuiteRun({
    // Playwright reports the same error at the end of its time limit.
    state: isBroken && build ? { ...withoutEnd, errors: [build.error] } : state,
    exit,
    isInterrupted: signal.aborted,
    didNotExit: stop.signal.reason === 'lingering',
    cwd: options.cwd,
    hasSelectedIds: mode.kind === 'rerun' && mode.ids !== null,
    serverLog: path.join(runDir, runFiles.serverLog),
    problems: [...new Set(problems.split('\n'))].filter((line) => line !== '').slice(0, 20),
    ...(isTraced ? { tracing: 'on' } : {}),
    ...(serverPorts ? { serverPorts } : {}),
    durationMs: endedAt - startedAt,
    endedAt,
  });
}

/** Returns the ports of a config's web servers, with the loopback addresses at which they listen. */
async function findListeningPorts(
  servers: readonly Pick<WebServer, 'url'>[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const ports = servers.flatMap(({ url }) =>
    url !== null && URL.canParse(url) ? Number(new URL(url).port) : [],
  );
  const distinctPorts = [...new Set(ports)].filter((port) => port > 0);
  return new Map(
    await Promise.all(distinctPorts.map(async (port) => [port, await findListeningAddresses(port)] as const)),
  );
}

async function prepareRunFolder({ runDir, mode }: SuiteOptions): Promise<void> {
  await mkdir(runDir, { recursive: true });
  for (const file of [runFiles.report, runFiles.serverLog, runFiles.problems]) {
    await writeFile(path.join(runDir, file), '');
  }
  if (mode.kind !== 'rerun' || mode.ids === null) return;
  // A last-run file selects tests by exact id in every version; `--test-list`, `file:line` and `--grep` do not.
  const output = path.join(runDir, runFiles.output);
  await mkdir(output, { recursive: true });
  const lastRun = { status: 'failed', failedTests: mode.ids };
  await writeFile(path.join(output, '.last-run.json'), JSON.stringify(lastRun));
}

async function startPlaywright(options: SuiteOptions, signal: AbortSignal): Promise<PlaywrightExit> {
  const { mode, playwright, cwd, runDir, graceMs = defaultGraceMs } = options;
  const log = mode.kind === 'first' ? null : createBoundedLog(path.join(runDir, runFiles.log));
  const { stdout, stderr } =
    mode.kind === 'first' ? mode : { stdout: log as Writable, stderr: log as Writable };
  const exit = await runPlaywright({
    cli: playwright.cli,
    args: createArguments(options),
    cwd,
    env: createEnvironment(options),
    runId: options.runId,
    stdout,
    stderr,
    signal,
    graceMs,
  });
  if (log) await finished(log.end());
  return exit;
}

function createArguments({ args, mode, runDir }: SuiteOptions): string[] {
  const noSnapshots = '--update-snapshots=none';
  if (mode.kind === 'first') return ['test', ...args.first, noSnapshots];
  const ownArgs = [
    `--output=${path.join(runDir, runFiles.output)}`,
    // The user's reporters would overwrite their reports of the first run.
    '--reporter=list',
    '--retries=0',
    '--max-failures=0',
    noSnapshots,
    ...(mode.trace ? ['--trace=on'] : []),
    ...(mode.extraArgs ?? []),
  ];
  if (mode.ids === null) return ['test', ...args.rerun, ...ownArgs];
  // The config may set a shard, which would drop some of the ids.
  return ['test', ...args.byId, '--last-failed', '--shard=1/1', ...ownArgs];
}

function createEnvironment(options: SuiteOptions): NodeJS.ProcessEnv {
  const { env = process.env, runDir, mode } = options;
  const runEnv: NodeJS.ProcessEnv = {
    ...addPackageBins({ cwd: options.cwd, env: createUnattendedEnv(env) }),
    [injectEnv.dir]: runDir,
    PW_TEST_REPORTER: path.join(options.injectDir ?? ownFile('playwright/inject/'), 'reporter.cjs'),
  };
  if (mode.kind === 'first') return runEnv;
  if (mode.trace) runEnv[injectEnv.traced] = '1';
  // Since 1.61 this variable sets the path of the last-run file. A re-run needs the file that `prepareRunFolder` wrote.
  delete runEnv['PLAYWRIGHT_LAST_RUN_OUTPUT_FILE'];
  // With this variable, Playwright takes no snapshot of the page.
  delete runEnv['PLAYWRIGHT_NO_COPY_PROMPT'];
  return runEnv;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Creates a log file that ends at 16 MB with a note. Ignores errors, because a broken log must not fail the run. */
function createBoundedLog(file: string): Writable {
  const stream = createWriteStream(file);
  let room = MAX_BYTES;
  stream.on('error', () => {
    room = 0;
  });
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (room <= 0) return done();
      room -= chunk.length;
      stream.write(room > 0 ? chunk : '\n[self-heal] the rest was omitted\n', () => done());
    },
    final(done) {
      if (stream.errored) done();
      else stream.end(() => done());
    },
  });
}

interface ListRequest {
  readonly playwright: Playwright;
  readonly cwd: string;
  /** The selection, as arguments for `playwright test`. */
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs `playwright test --list`, which runs no test. The returned list of tests is empty if Playwright could not list them. */
export async function listSuite({ playwright, cwd, args, env }: ListRequest): Promise<SuiteRun> {
  const runDir = await mkdtemp(path.join(tmpdir(), 'self-heal-list-'));
  const nullDevice = await open(devNull, 'w');
  const listArgs = ['--list', ...args];
  try {
    return await runSuite({
      playwright,
      cwd,
      runDir,
      runId: 'list',
      args: { first: listArgs, rerun: listArgs, byId: listArgs },
      mode: { kind: 'first', stdout: nullDevice.fd, stderr: new PassThrough().resume() },
      signal: new AbortController().signal,
      ...(env ? { env } : {}),
    });
  } finally {
    await nullDevice.close();
    await rm(runDir, { recursive: true, force: true });
  }
}
