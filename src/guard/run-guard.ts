import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pathInside, resolveLinks } from '../paths.js';
import { runWorker } from '../process/worker.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { type GuardFindings, noFindings } from './findings.js';
import type { GuardRequest, SuitePaths } from './request.js';
import { timeUsedUpSignal } from './limit-processor-time.js';
import { createViolation } from './rules.js';
import { testDirContainsApp } from './test-paths.js';

/** The limit for judging a change, in milliseconds of processor time, because a busy machine must not cause a rejection. */
const LIMIT_MS = 5000;
/** The limit in milliseconds of real time, in case the process hangs. */
const CLOCK_MS = 120_000;

/** The path at which the build puts `guard-process.ts`, next to every chunk. */
const ownEntry = fileURLToPath(new URL('guard-process.js', import.meta.url));

/** The first message to the guard's process, which then requests the files of both states. */
export type GuardOrder = Omit<GuardRequest, 'before' | 'after'>;

/** Messages from the guard's process. A question lists the files to read in `paths`; null requests the list of files. */
export type GuardMessage =
  | {
      readonly type: 'question';
      readonly id: number;
      readonly tree: 'before' | 'after';
      readonly paths: readonly string[] | null;
    }
  | { readonly type: 'judged'; readonly findings: GuardFindings }
  | { readonly type: 'failed'; readonly says: string };

/**
 * Judges in a separate process, because the native parser crashes on deeply nested code, and parsing a crafted change may never end. A change that
 * cannot be judged within the limits is a violation.
 */
export async function runGuard(
  request: GuardRequest,
  { limitMs = LIMIT_MS, clockMs = CLOCK_MS, entry = ownEntry } = {},
): Promise<GuardFindings> {
  const { before, after, ...order } = request;
  if (request.changes.length === 0) return noFindings;
  const file = request.changes[0]?.path ?? '';
  const reject = (detail: string): GuardFindings => ({
    ...noFindings,
    violations: [createViolation('cannot-be-judged', { file, detail })],
  });
  const rejectAsTooSlow = () => reject(`reading it took more than ${limitMs / 1000} s of processor time`);
  const trees = { before, after };
  return runWorker<GuardMessage, GuardFindings>(entry, {
    input: { type: 'order', order, limitMs },
    memoryMb: 1024,
    timeoutMs: clockMs,
    onMessage: async (message, send) => {
      if (message.type === 'judged') return message.findings;
      if (message.type === 'failed') return reject(message.says);
      const { id, tree, paths } = message;
      try {
        const value = await (paths === null ? trees[tree].listPaths() : trees[tree].readFiles(paths));
        send({ type: 'answer', id, value });
        return null;
      } catch (error) {
        return reject(`the files could not be read: ${String(error)}`);
      }
    },
    onFailure: (failure) => {
      if (failure.kind === 'timed-out') return rejectAsTooSlow();
      if (failure.kind === 'not-started') return reject(`the guard could not be started: ${failure.reason}`);
      const { code, signal } = failure;
      if (signal === timeUsedUpSignal) return rejectAsTooSlow();
      return reject(
        signal
          ? `the guard crashed while reading it (${signal}): nested too deeply`
          : `the guard exited before it could judge (exit code ${String(code)})`,
      );
    },
  });
}

/** Judges one change. */
export type Guard = (change: Omit<GuardRequest, 'suite'>) => Promise<GuardFindings>;

/** Creates the guard of a run. It knows the tests from the first run of the suite. */
export function createGuard(
  root: string,
  first: SuiteRun,
  judge: (request: GuardRequest) => Promise<GuardFindings> = runGuard,
): Guard {
  const suite = findSuitePaths(root, first);
  return (change) => judge({ ...change, suite });
}

/**
 * Returns the paths of the suite's files relative to the workspace root, with symbolic links resolved. `has` is true for files that
 * the project had before the change.
 */
export function findSuitePaths(
  root: string,
  { tests, rootDir, configFile }: Pick<SuiteRun, 'tests' | 'rootDir' | 'configFile'>,
  has: (file: string) => boolean = (file) => existsSync(path.join(root, file)),
): SuitePaths {
  const relativeToRoot = (file: string) => resolveRelativePath(root, file);
  const files = [...new Set(tests.map(({ test }) => test.location.file))].flatMap(
    (file) => relativeToRoot(file) ?? [],
  );
  return {
    testFiles: files,
    testDir: rootDir === '' || testDirContainsApp(files, has) ? null : relativeToRoot(rootDir),
    config: configFile === null ? null : relativeToRoot(configFile),
    titles: [...new Set(tests.flatMap(({ test }) => test.titlePath.at(-1) ?? []))],
  };
}

function resolveRelativePath(root: string, file: string): string | null {
  return pathInside(resolveLinks(root), resolveLinks(file));
}
