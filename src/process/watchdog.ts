import { spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** What the watchdog ends and deletes when self-heal is gone. */
export interface Watched {
  readonly runId: string;
  /** The run's folder, absolute, which then keeps nothing that holds secrets. */
  readonly dir: string;
  /** Absolute paths of temporary folders that only this run works in. */
  readonly folders: readonly string[];
}

/** A process that outlives self-heal if that is killed, and then ends what the run had started. */
export interface Watchdog extends Disposable {
  /** Names the temporary folders of the run, in place of those that were named before; at best before one is made. */
  watch(folders: readonly string[]): void;
}

/** Remembers the last line that it reads; at the end of its input, unless that was announced, it becomes the program. */
const waits =
  'last=; while IFS= read -r line; do if [ "$line" = end ]; then exit 0; fi; last=$line; done; exec "$@" "$last"';

const afterKill = fileURLToPath(new URL('after-kill.js', import.meta.url));

/**
 * Starts the watchdog of a run. Its standard input is a pipe that only this process holds, and that the system closes when this process is
 * gone, however it ended; there is no polling. Until then it is a shell that waits, of some 1.5 MB, in a session of its own. On
 * Windows there is none: the next command puts in order what a killed run left.
 */
export function startWatchdog({ runId, dir }: Pick<Watched, 'runId' | 'dir'>): Watchdog {
  if (process.platform === 'win32') return { watch: () => undefined, [Symbol.dispose]: () => undefined };
  const child = spawn('/bin/sh', ['-c', waits, 'self-heal-watchdog', process.execPath, afterKill], {
    // A folder that nobody unmounts or deletes.
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a watchdog the run is as good, only its kill is not.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  const watch = (folders: readonly string[]) => {
    const watched: Watched = { runId, dir, folders };
    child.stdin.write(`${JSON.stringify(watched)}\n`);
  };
  watch([]);
  return { watch, [Symbol.dispose]: () => void child.stdin.end('end\n') };
}
