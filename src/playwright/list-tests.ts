import { mkdtemp, open, rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import type { Playwright } from './find-playwright.js';
import { runSuite } from './run-suite.js';
import type { SuiteRun } from './suite-run.js';

/** Which tests to list. */
export interface ListRequest {
  readonly playwright: Playwright;
  readonly cwd: string;
  /** The selection, as arguments for `playwright test`. */
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs `playwright test --list`. Returns a run in which no test ran, with the files that Playwright loaded; its list of
 * tests is empty if Playwright could not list them.
 */
export async function listTests({ playwright, cwd, args, env }: ListRequest): Promise<SuiteRun> {
  const runDir = await mkdtemp(path.join(tmpdir(), 'self-heal-list-'));
  const nowhere = await open(devNull, 'w');
  const listing = ['--list', ...args];
  try {
    return await runSuite({
      playwright,
      cwd,
      runDir,
      runId: 'list',
      args: { first: listing, whole: listing, byId: listing },
      mode: { kind: 'first', stdout: nowhere.fd, stderr: new PassThrough().resume() },
      signal: new AbortController().signal,
      ...(env ? { env } : {}),
    });
  } finally {
    await nowhere.close();
    await rm(runDir, { recursive: true, force: true });
  }
}
