import { spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** The processes and files that the watchdog ends and deletes when self-heal is gone. */
export interface WatchTargets {
  readonly runId: string;
  /** The run's folder, absolute. Files in it that may hold secrets are deleted. */
  readonly dir: string;
  /** The folder that it is then moved to. */
  readonly final: string;
  /** Absolute paths of temporary folders that only this run uses. */
  readonly folders: readonly string[];
}

/**
 * A process that outlives self-heal if it is killed, and then ends what the run had started. It does the same if disposed before the run has
 * ended.
 */
export interface Watchdog extends Disposable {
  /** Sets the run's temporary folders, replacing earlier ones; best called before a folder is created. */
  watch(folders: readonly string[]): void;
  /** Says that the run has cleaned up after itself. */
  markEnded(): void;
}

/** Remembers the last line it reads. At the end of its input, unless `end` was read, it becomes the program. */
const waitScript =
  'last=; while IFS= read -r line; do if [ "$line" = end ]; then exit 0; fi; last=$line; done; exec "$@" "$last"';

const afterKill = fileURLToPath(new URL('after-kill.js', import.meta.url));

/**
 * Starts the watchdog of a run. Its standard input is a pipe that only this process holds and that the system closes however this process ends, so
 * there is no polling. Until then it is a waiting shell of some 1.5 MB in its own session. Windows has no
 * watchdog: the next command cleans up what a killed run left.
 */
export function startWatchdog({ runId, dir, final }: Omit<WatchTargets, 'folders'>): Watchdog {
  const nothing = () => undefined;
  if (process.platform === 'win32') return { watch: nothing, markEnded: nothing, [Symbol.dispose]: nothing };
  const child = spawn('/bin/sh', ['-c', waitScript, 'self-heal-watchdog', process.execPath, afterKill], {
    // A folder that is never unmounted or deleted.
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a watchdog the run still works; only the cleanup after a kill is missing.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  const watch = (folders: readonly string[]) => {
    const watched: WatchTargets = { runId, dir, final, folders };
    child.stdin.write(`${JSON.stringify(watched)}\n`);
  };
  watch([]);
  const markEnded = () => void child.stdin.write('end\n');
  return { watch, markEnded: markEnded, [Symbol.dispose]: () => void child.stdin.end() };
}
