import { readFile, stat } from 'node:fs/promises';
import type { DiagnosedFailure } from '../model/cause.js';
import { asPrinted, isDecisive } from '../model/diagnosis.js';
import type { TestError } from '../model/failure.js';
import { normalise } from '../diagnose/normalise.js';

/** A build error with which a web server runs but never becomes available, as an earlier run of the suite has shown. */
export interface BrokenBuild {
  /** Playwright's error after it had waited for the server in vain. */
  readonly error: TestError;
  /** The line of the server's output that names the build error. */
  readonly line: string;
}

const waitedInVain = /^(?:Error: )?Timed out waiting \d+ms from config\.webServer/;
const quietMs = 10_000;
const pollMs = 1_000;
/** A log that is longer than this is not read: a build reports its errors early. */
const maxLog = 512 * 1024;

/** Returns the build error with which the suite's web server did not become available, or null. */
export function brokenBuildOf({ failure, diagnosis }: DiagnosedFailure): BrokenBuild | null {
  const error = failure.scope === 'suite' && failure.errors.find(({ message }) => waitedInVain.test(message));
  const [reason] = diagnosis.why;
  const named =
    reason?.category === 'build-error' && reason.source === 'server' && isDecisive(reason.confidence);
  return error && named ? { error, line: reason.evidence } : null;
}

/** When the suite was started and what time it is, in milliseconds since the epoch. */
interface Times {
  readonly startedAt: number;
  readonly now: number;
}

/**
 * Whether a server log (`<epoch ms> <text>` lines) has the line of a build error and nothing new since: for at least ten seconds, and as
 * long again as it took the server to print that line. Lines that only repeat earlier ones are not new, since Playwright asks the
 * server every second whether it is available.
 */
export function isStillBroken(log: string, line: string, { startedAt, now }: Times): boolean {
  const wanted = normalise(asPrinted(line));
  const first = new Map<string, number>();
  for (const [, time, text = ''] of log.matchAll(/^(\d{12,14}) (.*)$/gm)) {
    const key = normalise(text);
    if (!first.has(key)) first.set(key, Number(time));
  }
  const said = [...first].find(([text]) => text.includes(wanted))?.[1];
  if (said === undefined) return false;
  return now - Math.max(...first.values()) >= Math.max(quietMs, said - startedAt);
}

interface Watch {
  readonly serverLog: string;
  readonly line: string;
  readonly startedAt: number;
  readonly now: () => number;
  readonly onBroken: () => void;
}

/** Calls `onBroken` once the server log shows that the build is still broken. Returns a function that ends the watch. */
export function watchBuild({ serverLog, line, startedAt, now, onBroken }: Watch): () => void {
  const look = async () => {
    const { size } = await stat(serverLog);
    if (size > maxLog) return;
    if (isStillBroken(await readFile(serverLog, 'utf8'), line, { startedAt, now: now() })) onBroken();
  };
  // If the log cannot be read, Playwright's own time limit applies.
  const timer = setInterval(() => void look().catch(() => undefined), pollMs);
  return () => clearInterval(timer);
}
