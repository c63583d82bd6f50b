import fs from 'node:fs';
import path from 'node:path';

import type {
  FullConfig,
  FullResult,
  Suite,
  TestCase,
  TestError,
  TestResult,
} from '@playwright/test/reporter';
import type { WebServer } from '../../model/failure.js';
import { injectEnv, runFiles } from '../report-format.js';
import { runDir, runGuarded, appendReport } from './run-folder.js';
import { logChildOutput, preloadOption } from './child-output.js';
import { listRerunIds, listSerialGroups } from './rerun-ids.js';
import { ServerLog } from './server-log.js';
import { createTestError, createTestFailure, createTestResult } from './test-data.js';

const MAX_SET_UP_OUTPUT = 64 * 1024;
/** How long to delay a progress report. Reporting each of thousands of fast tests would slow them down. */
const progressDelayMs = 200;
/** How long a traced run waits for self-heal to examine its failures, and how often it checks. */
const MAX_WAIT_MS = 2_000;
const checkMs = 10;
const isTraced = process.env[injectEnv.traced] === '1';

/**
 * Self-heal's reporter in the user's Playwright, set as `PW_TEST_REPORTER`. It writes the report that self-heal reads, and logs the web servers'
 * output. It prints nothing and never throws.
 */
export default class SelfHealReporter {
  #suite: Suite | null = null;
  #config: FullConfig | null = null;
  /** The commands of the web servers whose output is logged. */
  #webServers: readonly string[] = [];
  #writeServerLog: ReturnType<ServerLog['openStream']> | null = null;
  readonly #endedTests = new Set<string>();
  #failedCount = 0;
  #failedTries = 0;
  #total = 0;
  #lastEnded: TestCase | null = null;
  #progressTimer: NodeJS.Timeout | null = null;
  /** Null except while the suite is being set up. */
  #setUpOutput: string | null = null;

  constructor() {
    // Processes that the suite starts must not inherit it.
    delete process.env['PW_TEST_REPORTER'];
    // Without this, a closed pipe (`self-heal run | head -1`) would crash Playwright in the middle of its tests.
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
    runGuarded('the report could not be started', () => appendReport({ type: 'hello' }));
    runGuarded('server output could not be logged', () => {
      if (!runDir) return;
      const log = new ServerLog(path.join(runDir, runFiles.serverLog));
      this.#webServers = logChildOutput(log);
      this.#writeServerLog = log.openStream();
    });
  }

  /** Makes Playwright call `onConfigure`, and `onBegin` without a config. */
  version(): 'v2' {
    return 'v2';
  }

  /** Lets Playwright add its default terminal reporter if the config names none that prints. */
  printsToStdio(): boolean {
    return false;
  }

  onConfigure(config: FullConfig): void {
    this.#config = config;
    runGuarded('the output of the setup cannot be kept', () => this.#captureSetUpOutput());
    const { rootDir, configFile = null, version } = config;
    runGuarded('the configuration was not reported', () =>
      appendReport({ type: 'configured', rootDir, configFile, version, ...readSetUp(config) }),
    );
  }

  onBegin(suite: Suite): void {
    this.#suite = suite;
    this.#setUpOutput = null;
    // globalSetup has ended and the web servers are running, so only workers inherit this.
    if (isTraced)
      process.env['NODE_OPTIONS'] = [process.env['NODE_OPTIONS'], preloadOption].filter(Boolean).join(' ');
    runGuarded('the start of the run was not reported', () => {
      const total = suite.allTests().length;
      this.#total = total;
      // If a server did not become available, Playwright begins an empty suite and does not start the servers after it.
      const areServersUp = total > 0 && this.#writeServerLog !== null;
      const reused = this.#config && areServersUp ? findReusedServer(this.#config, this.#webServers) : null;
      appendReport({ type: 'begin', total, reusedServer: reused });
    });
  }

  /** Keeps the output of a `globalSetup`, which reporters do not get. If the process ends there, nothing else explains why. */
  #captureSetUpOutput(): void {
    this.#setUpOutput = '';
    for (const stream of [process.stdout, process.stderr]) {
      const write = stream.write.bind(stream) as (...args: readonly unknown[]) => boolean;
      stream.write = (...args: readonly unknown[]) => {
        if (this.#setUpOutput !== null)
          this.#setUpOutput = (this.#setUpOutput + String(args[0])).slice(-MAX_SET_UP_OUTPUT);
        return write(...args);
      };
    }
    // Runs before the log's own listener, which writes the pending lines.
    process.prependOnceListener('exit', () => this.#writeServerLog?.(this.#setUpOutput ?? ''));
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    runGuarded('the end of a test was not reported', () => {
      const isRed = result.status !== test.expectedStatus && result.status !== 'skipped';
      if (isRed && result.status !== 'interrupted')
        appendReport({ type: 'failed-try', failure: createTestFailure(test, result) });
      this.#failedTries += Number(isRed && result.status !== 'interrupted');
      const trace = isRed ? undefined : result.attachments.find(({ name }) => name === 'trace')?.path;
      if (trace !== undefined && isTraced) appendReport({ type: 'passed', test: test.id, trace });
      // A serial group is retried as a whole, including its tests that had passed.
      if ((isRed && result.retry < test.retries) || this.#endedTests.has(test.id)) return;
      this.#endedTests.add(test.id);
      this.#failedCount += Number(!test.ok());
      this.#lastEnded = test;
      this.#progressTimer ??= setTimeout(() => this.#reportProgress(), progressDelayMs).unref();
      if (isTraced && this.#endedTests.size >= this.#total) this.#waitUntilExamined();
    });
  }

  /**
   * Blocks Playwright, and keeps its web servers running, after the last test of a traced run, because self-heal fetches the scripts that the stacks
   * name. A reporter cannot delay the end of a run in any other way.
   */
  #waitUntilExamined(): void {
    if (!runDir || this.#failedTries === 0) return;
    const examined = path.join(runDir, runFiles.examined);
    const clock = new Int32Array(new SharedArrayBuffer(4));
    for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += checkMs) {
      if (fs.existsSync(examined) && Number(fs.readFileSync(examined, 'utf8')) >= this.#failedTries) return;
      Atomics.wait(clock, 0, 0, checkMs);
    }
  }

  #reportProgress(): void {
    if (this.#progressTimer) clearTimeout(this.#progressTimer);
    this.#progressTimer = null;
    const test = this.#lastEnded?.titlePath().slice(2).join(' › ') ?? '';
    runGuarded('the progress was not reported', () =>
      appendReport({ type: 'progress', done: this.#endedTests.size, failed: this.#failedCount, test }),
    );
  }

  onError(error: TestError): void {
    this.#setUpOutput = null;
    runGuarded('an error of the suite was not reported', () =>
      appendReport({ type: 'error', error: createTestError(error) }),
    );
  }

  onEnd({ status }: FullResult): void {
    if (this.#progressTimer) this.#reportProgress();
    runGuarded('the end of the run was not reported', () => {
      const tests = this.#suite?.allTests() ?? [];
      const ids = this.#suite ? listRerunIds(this.#suite) : {};
      const serial = this.#suite ? listSerialGroups(this.#suite) : [];
      appendReport({ type: 'end', status, tests: tests.map(createTestResult), rerunIds: ids, serial });
    });
  }
}

interface ConfiguredServer {
  readonly command?: string;
  readonly cwd?: string;
  readonly url?: string;
  readonly port?: number;
}

/**
 * Returns the URL of a configured web server that Playwright did not start, since one was already running: a server of
 * an earlier run may serve old code (HL-9). `commands` are the shell commands of the servers that Playwright did start.
 */
function findReusedServer(config: FullConfig, commands: readonly string[]): string | null {
  const reused = listWebServers(config).find(
    ({ command = '', url, port }) =>
      // On Windows, `cmd.exe` receives the command in quotes.
      (url || port) && !commands.some((started) => started === command || started === `"${command}"`),
  );
  return reused ? (reused.url ?? `http://localhost:${reused.port}`) : null;
}

/** The public config has only a single server; the list of servers is private (Playwright 1.50 to 1.65). */
function listWebServers(config: FullConfig): readonly ConfiguredServer[] {
  const { webServers: servers } = readInternals(config);
  return servers ?? (config.webServer ? [config.webServer] : []);
}

interface Internal {
  readonly webServers?: readonly ConfiguredServer[];
  readonly globalSetups?: readonly string[];
}

function readInternals(config: FullConfig): Internal {
  const symbol = Object.getOwnPropertySymbols(config).find(
    ({ description }) => description === 'configInternalSymbol',
  );
  return symbol ? (Reflect.get(config, symbol) as Internal) : {};
}

/** Returns the setup that a config defines. */
function readSetUp(config: FullConfig): { webServers: WebServer[]; globalSetup: readonly string[] } {
  const folder = config.configFile ? path.dirname(config.configFile) : config.rootDir;
  const { globalSetups = config.globalSetup ? [config.globalSetup] : [] } = readInternals(config);
  return {
    webServers: listWebServers(config).map(({ command = '', cwd = '.', url, port }) => ({
      command,
      cwd: path.relative(process.cwd(), path.resolve(folder, cwd)).replaceAll('\\', '/') || '.',
      url: url ?? (port ? `http://localhost:${port}` : null),
    })),
    globalSetup: globalSetups,
  };
}
