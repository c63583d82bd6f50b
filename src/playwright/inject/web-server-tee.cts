import type { ChildProcess as Child } from 'node:child_process';
import type { Log } from './server-log.cjs';

const { ChildProcess } = require('node:child_process') as typeof import('node:child_process');
const { StringDecoder } = require('node:string_decoder') as typeof import('node:string_decoder');
const { isCalledByPlaywright } =
  require('./called-by-playwright.cjs') as import('./called-by-playwright.cjs').Api;
const { note } = require('./run-folder.cjs') as import('./run-folder.cjs').Api;

interface SpawnOptions {
  readonly shell?: unknown;
  readonly args?: readonly string[];
}
/** `child_process.ChildProcess` has had this untyped method since Node 2. */
interface Spawnable {
  spawn: (this: Child, options: SpawnOptions) => unknown;
}

/** Listens to the servers that Playwright starts. */
interface WebServerTee {
  /** The shell command lines of the servers started so far. */
  readonly commands: readonly string[];
  /** Ignores processes that are started later; keeps listening to the servers. */
  stop(): void;
}

/**
 * Listens to both output streams of every `webServer` that Playwright starts from now on, whatever the config sets for
 * `stdout` and `stderr`. With Playwright's own way, its debug namespace, the user's list reporter would print the server
 * output. Patches the prototype instead of `child_process.spawn`, since Playwright 1.50 holds a copy of the module's
 * functions.
 */
function teeWebServers(log: Log): WebServerTee {
  const prototype = ChildProcess.prototype as unknown as Spawnable;
  const original = prototype.spawn;
  const commands: string[] = [];
  let isListening = true;
  prototype.spawn = function spawn(options) {
    const result = original.call(this, options);
    try {
      if (isListening && options.shell && isCalledByPlaywright()) {
        commands.push(options.args?.at(-1) ?? '');
        listen(this, log);
      }
    } catch (error) {
      note('a web server could not be listened to', error);
    }
    return result;
  };
  return { commands, stop: () => void (isListening = false) };
}

function listen(child: Child, log: Log): void {
  for (const stream of [child.stdout, child.stderr]) {
    const [decoder, write] = [new StringDecoder('utf8'), log.stream()];
    stream?.on('data', (chunk: Buffer | string) =>
      write(typeof chunk === 'string' ? chunk : decoder.write(chunk)),
    );
  }
}

const api = { teeWebServers };
module.exports = api;
export type Api = typeof api;
export type Tee = WebServerTee;
