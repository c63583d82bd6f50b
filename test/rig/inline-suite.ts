import { openSync, closeSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import type { BrokenBuild } from '../../src/playwright/broken-build.js';
import { findPlaywright } from '../../src/playwright/find-playwright.js';
import { runSuite, type SuiteOptions } from '../../src/playwright/run-suite.js';
import { toPlaywrightArgs, type Selection } from '../../src/playwright/selection.js';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import { writeInto } from './agent-workspace.js';
import { compiledInject } from './compiled-inject.js';
import { tempDirOfFile } from './temp-dir.js';

/** A small Playwright project in a temporary folder, run with the repository's Playwright. */
export interface InlineSuite {
  /** The project; its path has a space and a non-ASCII letter. */
  readonly dir: string;
  write(files: Record<string, string>): void;
  /** Runs the suite as a user does; `terminal` is the output on their terminal. */
  run(selection?: Selection, options?: RunOptions): Promise<FinishedSuite>;
  /** Re-runs these ids, or the whole selection if null. */
  rerun(ids: readonly string[] | null, selection?: Selection, options?: RunOptions): Promise<FinishedSuite>;
  /** Every file of the project by its relative path, without packages and Playwright's own output. */
  files(): Promise<Record<string, string>>;
}

/** The options of a run that a test may set. */
export type RunOptions = Partial<
  Pick<
    SuiteOptions,
    'env' | 'signal' | 'onProgress' | 'onFailedTry' | 'graceMs' | 'exitTimeoutMs' | 'playwright'
  >
> & {
  /** True if Playwright records traces in a re-run. */
  readonly trace?: boolean;
  /** The build error that a re-run may end with. */
  readonly brokenBuild?: BrokenBuild;
};

/** A finished run, with its output and the folder of its files. */
export interface FinishedSuite {
  readonly run: SuiteRun;
  readonly terminal: string;
  readonly stderr: string;
  readonly runDir: string;
}

/** To test another Playwright, set this variable to the `node_modules` that it is installed in. */
const packages =
  process.env['SELF_HEAL_TEST_NODE_MODULES'] ?? path.resolve(import.meta.dirname, '../../node_modules');

/** Writes a project. Unless the files include another `package.json`, its modules are CommonJS, which Playwright loads faster. */
export async function inlineSuite(files: Record<string, string>): Promise<InlineSuite> {
  const root = tempDirOfFile('größe mit raum');
  const dir = path.join(root, 'project');
  let runs = 0;
  const write = (more: Record<string, string>) => writeInto(dir, more);
  write({ 'package.json': '{ "name": "inline" }', ...files });
  await symlink(packages, path.join(dir, 'node_modules'), 'junction');
  const start = async (
    mode: { ids: readonly string[] | null } | 'first',
    selection: Selection = {},
    options: RunOptions = {},
  ): Promise<FinishedSuite> => {
    runs += 1;
    const runDir = path.join(root, 'runs', String(runs));
    return runIn({ dir, runDir, mode, selection, options });
  };
  return {
    dir,
    write,
    run: (selection, options) => start('first', selection, options),
    rerun: (ids, selection, options) => start({ ids }, selection, options),
    files: () => readFiles(dir),
  };
}

async function runIn({
  dir,
  runDir,
  mode,
  selection,
  options,
}: {
  dir: string;
  runDir: string;
  mode: { ids: readonly string[] | null } | 'first';
  selection: Selection;
  options: RunOptions;
}): Promise<FinishedSuite> {
  const found = findPlaywright(dir);
  if (!found.ok) throw new Error(found.error.message);
  await mkdir(runDir, { recursive: true });
  const screen = path.join(runDir, 'screen.txt');
  const stdout = openSync(screen, 'w');
  const chunks: Buffer[] = [];
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  const run = await runSuite({
    playwright: found.value,
    cwd: dir,
    runDir,
    runId: 'inline-suite',
    args: toPlaywrightArgs(selection),
    mode:
      mode === 'first'
        ? { kind: 'first', stdout, stderr }
        : {
            kind: 'rerun',
            ids: mode.ids,
            trace: options.trace ?? false,
            brokenBuild: options.brokenBuild ?? null,
          },
    signal: new AbortController().signal,
    injectDir: await compiledInject(),
    ...options,
    env: { ...cleanEnv(), ...options.env },
  }).finally(() => closeSync(stdout));
  const terminal = await readFile(screen, 'utf8');
  return { run, terminal, stderr: Buffer.concat(chunks).toString('utf8'), runDir };
}

/** Returns the environment without the variables of this test runner. */
function cleanEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|TEST|NODE_ENV|NODE_OPTIONS|FORCE_COLOR|CI|npm_)/.test(name),
  );
  return Object.fromEntries(kept);
}

async function readFiles(dir: string): Promise<Record<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)))
    .filter((file) => !/^(?:node_modules|test-results)(?:[\\/]|$)/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(path.join(dir, file), 'utf8')));
  return Object.fromEntries(files.map((file, at) => [file, texts[at] ?? '']));
}
