import { fork } from 'node:child_process';

/** Why a worker gave no result. */
export type WorkerFailure =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly kind: 'not-started'; readonly reason: string }
  | { readonly kind: 'timed-out' };

/** The task of a worker, with its limits and handlers. */
export interface WorkerTask<M, R> {
  /** Its first message. */
  readonly input: unknown;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** Handles a message; `send` answers it. Returns the result, or null while the work goes on. Never rejects. */
  readonly onMessage: (message: M, send: (answer: unknown) => void) => Promise<R | null>;
  readonly onFailure: (failure: WorkerFailure) => R;
}

/** Runs one of our own modules in a process of its own, which may crash or hang without harm, and ends it with its result. Never rejects. */
export function runWorker<M, R>(entry: string, task: WorkerTask<M, R>): Promise<R> {
  const { input, memoryMb, timeoutMs, onMessage, onFailure } = task;
  const child = fork(entry, [], {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${memoryMb}`],
    // The output of a crash is not needed, because its exit says enough.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return new Promise((resolve) => {
    const finish = (result: R) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      resolve(result);
    };
    const fail = (failure: WorkerFailure) => finish(onFailure(failure));
    const timer = setTimeout(() => fail({ kind: 'timed-out' }), timeoutMs);
    const send = (answer: unknown) => void (child.connected && child.send(answer as object, () => {}));
    child.on('message', (message) => {
      void onMessage(message as M, send).then((result) => result !== null && finish(result));
    });
    child.on('error', ({ message }) => fail({ kind: 'not-started', reason: message }));
    child.on('exit', (code, signal) => fail({ kind: 'exited', code, signal }));
    send(input);
  });
}
