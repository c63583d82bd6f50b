import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pathInside, real } from '../paths.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { type GuardFindings, harmless } from './findings.js';
import type { GuardRequest, SuitePlaces } from './request.js';
import { usedUp } from './limit-processor-time.js';
import { violationOf } from './rules.js';
import { isAmongApp } from './test-places.js';

/** How much processor time judging a change may take, in milliseconds. A busy machine must not cause a rejection. */
const LIMIT_MS = 5000;
/** How long it may take by the clock, in milliseconds, in case it hangs. */
const CLOCK_MS = 120_000;

/** Where the build puts `guard-process.ts`, beside every chunk. */
const ownEntry = fileURLToPath(new URL('guard-process.js', import.meta.url));

/** The first message to the guard's process. The trees stay here, and the process requests their files by message. */
export type GuardOrder = Omit<GuardRequest, 'before' | 'after'>;

/** Messages from the guard's process. A question names the files to read in `paths`; null asks which files there are. */
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
 * Judges in a separate process, since the native parser crashes its process on code that is nested too deeply, and a change may be crafted
 * so that reading it never ends. A change that cannot be judged within the limits is a violation with that reason.
 */
export async function runGuard(
  request: GuardRequest,
  { limitMs = LIMIT_MS, clockMs = CLOCK_MS, entry = ownEntry } = {},
): Promise<GuardFindings> {
  const { before, after, ...order } = request;
  if (request.changes.length === 0) return harmless;
  const child = fork(entry, [], {
    serialization: 'advanced',
    execArgv: ['--max-old-space-size=1024'],
    // The output of a crash is not needed: its violation describes it.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const trees = { before, after };
  return new Promise((resolve) => {
    const end = (findings: GuardFindings) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      resolve(findings);
    };
    const file = request.changes[0]?.path ?? '';
    const rejected = (detail: string) =>
      end({ ...harmless, violations: [violationOf('cannot-be-judged', { file, detail })] });
    const tookTooLong = () => rejected(`reading it took more than ${limitMs / 1000} s of processor time`);
    const timer = setTimeout(tookTooLong, clockMs);
    const answer = async ({ id, tree, paths }: Extract<GuardMessage, { type: 'question' }>) => {
      const value = await (paths === null ? trees[tree].paths() : trees[tree].read(paths));
      if (child.connected) child.send({ type: 'answer', id, value });
    };
    child.on('message', (message: GuardMessage) => {
      if (message.type === 'judged') end(message.findings);
      else if (message.type === 'failed') rejected(message.says);
      else
        answer(message).catch((error: unknown) => rejected(`the files could not be read: ${String(error)}`));
    });
    child.on('error', (error) => rejected(`the guard could not be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      if (signal === usedUp) tookTooLong();
      else if (signal) rejected(`the guard crashed while reading it (${signal}): nested too deeply`);
      else rejected(`the guard exited before it could judge (exit code ${String(code)})`);
    });
    child.send({ type: 'order', order, limitMs }, () => {});
  });
}

/** Judges one agent's changes. */
export type Guard = (work: Omit<GuardRequest, 'suite'>) => Promise<GuardFindings>;

/** Creates the guard of a run. It knows the tests from the first run of the suite. */
export function createGuard(
  root: string,
  first: SuiteRun,
  judge: (request: GuardRequest) => Promise<GuardFindings> = runGuard,
): Guard {
  const suite = placesOf(root, first);
  return (work) => judge({ ...work, suite });
}

/**
 * Returns the paths of the suite's files relative to the recorded root, which may be reached through symbolic links. `has` says which files
 * the project has; if it has changed since, which it had before.
 */
export function placesOf(
  root: string,
  { tests, rootDir, configFile }: Pick<SuiteRun, 'tests' | 'rootDir' | 'configFile'>,
  has: (file: string) => boolean = (file) => existsSync(path.join(root, file)),
): SuitePlaces {
  const inside = (file: string) => pathIn(root, file);
  const files = [...new Set(tests.map(({ test }) => test.location.file))].flatMap(
    (file) => inside(file) ?? [],
  );
  return {
    testFiles: files,
    testDir: rootDir === '' || isAmongApp(files, has) ? null : inside(rootDir),
    config: configFile === null ? null : inside(configFile),
    titles: [...new Set(tests.flatMap(({ test }) => test.titlePath.at(-1) ?? []))],
  };
}

function pathIn(root: string, file: string): string | null {
  return pathInside(real(root), real(file));
}
