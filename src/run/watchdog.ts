import { spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** The processes and files that the watchdog ends and deletes after self-heal was killed. */
export interface WatchTargets {
  readonly runId: string;
  /** The run's folder, absolute. Files in it that may hold secrets are deleted. */
  readonly dir: string;
  /** The folder to which the run's files are then moved. */
  readonly finalDir: string;
  /** Absolute paths of temporary folders that only this run uses. */
  readonly folders: readonly string[];
}

/** A process that cleans up after self-heal was killed. It does the same if it is disposed of before the run has ended. */
export interface Watchdog extends Disposable {
  /** Sets the run's temporary folders, replacing earlier ones; best called before a folder is created. */
  watch(folders: readonly string[]): void;
  /** Tells the watchdog that the run has cleaned up. */
  markEnded(): void;
}

/** A shell script that reads its input to the end and then passes the last line to the program. Does nothing if it has read `end`. */
const waitScript =
  'last=; while IFS= read -r line; do if [ "$line" = end ]; then exit 0; fi; last=$line; done; exec "$@" "$last"';

const afterKill = fileURLToPath(new URL('after-kill.js', import.meta.url));

/**
 * Starts the watchdog of a run: a waiting shell of about 1.5 MB in its own session. Only this process holds the pipe to its standard input, and the
 * system closes the pipe when this process ends for any reason, so there is no polling. Windows has no watchdog: the next command cleans up after a
 * killed run.
 */
export function startWatchdog({ runId, dir, finalDir }: Omit<WatchTargets, 'folders'>): Watchdog {
  const noop = () => undefined;
  if (process.platform === 'win32') return { watch: noop, markEnded: noop, [Symbol.dispose]: noop };
  const child = spawn('/bin/sh', ['-c', waitScript, 'self-heal-watchdog', process.execPath, afterKill], {
    // This folder is never unmounted or deleted.
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a watchdog the run still works; only the cleanup after a kill is missing.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  const watch = (folders: readonly string[]) => {
    const targets: WatchTargets = { runId, dir, finalDir, folders };
    child.stdin.write(`${JSON.stringify(targets)}\n`);
  };
  watch([]);
  const markEnded = () => void child.stdin.write('end\n');
  return { watch, markEnded, [Symbol.dispose]: () => void child.stdin.end() };
}
