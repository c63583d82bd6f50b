import { readFile, stat } from 'node:fs/promises';
import type { DiagnosedFailure } from '../model/cause.js';
import { removeEllipsis, isDecisive } from '../model/diagnosis.js';
import type { TestError } from '../model/failure.js';
import { normalize } from '../diagnose/normalize.js';

/** A build error that kept a running web server from becoming available in an earlier run. */
export interface BrokenBuild {
  /** Playwright's error when its wait for the server timed out. */
  readonly error: TestError;
  /** The line of the server's output that names the build error. */
  readonly line: string;
}

const serverTimeout = /^(?:Error: )?Timed out waiting \d+ms from config\.webServer/;
const quietMs = 10_000;
const pollMs = 1_000;
/** A longer log is not read, because a build reports its errors early. */
const MAX_LOG = 512 * 1024;

/** Returns the build error that kept the suite's web server from becoming available, or null. */
export function findBrokenBuild({ failure, diagnosis }: DiagnosedFailure): BrokenBuild | null {
  const error =
    failure.scope === 'suite' && failure.errors.find(({ message }) => serverTimeout.test(message));
  const [reason] = diagnosis.why;
  const isBuildError =
    reason?.category === 'build-error' && reason.source === 'server' && isDecisive(reason.confidence);
  return error && isBuildError ? { error, line: reason.evidence } : null;
}

/**
 * True if a server log (`<epoch ms> <text>` lines) has a build error, and nothing new has followed for ten seconds, or for as long as the server took
 * to print the error if that is longer. Repeated lines are not new, because Playwright polls the server every second. Times are in milliseconds since
 * the epoch.
 */
export function isStillBroken(
  log: string,
  line: string,
  { startedAt, now }: { readonly startedAt: number; readonly now: number },
): boolean {
  const errorText = normalize(removeEllipsis(line));
  const firstTimes = new Map<string, number>();
  for (const [, time, text = ''] of log.matchAll(/^(\d{12,14}) (.*)$/gm)) {
    const key = normalize(text);
    if (!firstTimes.has(key)) firstTimes.set(key, Number(time));
  }
  const errorAt = [...firstTimes].find(([text]) => text.includes(errorText))?.[1];
  if (errorAt === undefined) return false;
  return now - Math.max(...firstTimes.values()) >= Math.max(quietMs, errorAt - startedAt);
}

interface WatchOptions {
  readonly serverLog: string;
  readonly line: string;
  readonly startedAt: number;
  readonly now: () => number;
  readonly onBroken: () => void;
}

/** Calls `onBroken` once the server log shows that the build is still broken. Returns a function that ends the watch. */
export function watchBuild({ serverLog, line, startedAt, now, onBroken }: WatchOptions): () => void {
  const check = async () => {
    const { size } = await stat(serverLog);
    if (size > MAX_LOG) return;
    if (isStillBroken(await readFile(serverLog, 'utf8'), line, { startedAt, now: now() })) onBroken();
  };
  // If the log cannot be read, Playwright's own time limit applies.
  const timer = setInterval(() => void check().catch(() => undefined), pollMs);
  return () => clearInterval(timer);
}
