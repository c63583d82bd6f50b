import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';

const hosted = new AsyncLocalStorage<NodeJS.ProcessEnv>();

/** Returns the environment for the programs that a run starts: the `env` of `heal({ env })`, or this process's own. */
export function environment(): NodeJS.ProcessEnv {
  return hosted.getStore() ?? process.env;
}

/** Runs work whose programs get this environment, since runs with different environments may share one process (CL-15). */
export function withEnvironment<T>(env: NodeJS.ProcessEnv, work: () => Promise<T>): Promise<T> {
  return hosted.run(env, work);
}
