import type { ChildProcess as Child } from 'node:child_process';
import type { Log } from './server-log.cjs';

const { ChildProcess } = require('node:child_process') as typeof import('node:child_process');
const fs = require('node:fs') as typeof import('node:fs');
const path = require('node:path') as typeof import('node:path');
const { StringDecoder } = require('node:string_decoder') as typeof import('node:string_decoder');
const { dir, guarded } = require('./run-folder.cjs') as import('./run-folder.cjs').Api;
const { ServerLog } = require('./server-log.cjs') as import('./server-log.cjs').Api;
const { isCalledByPlaywright } =
  require('./called-by-playwright.cjs') as import('./called-by-playwright.cjs').Api;

interface SpawnOptions {
  readonly shell?: unknown;
  readonly args?: readonly string[];
}

/** `child_process.ChildProcess` has had this untyped method since Node 2. */
interface Spawnable {
  spawn: (this: Child, options: SpawnOptions) => unknown;
}

/**
 * Keeps the piped output of processes that this process starts from now on. That of Playwright's web servers goes into `webServers`,
 * whatever the config sets for `stdout` and `stderr`; that of what fixtures, hooks and globalSetup start, such as an API server of a
 * worker, into a log of this process. Observes what is pushed into the streams instead of reading them, so that everyone else can still
 * read them. With Playwright's own way, its debug namespace, the user's list reporter would print the server output. Patches the
 * prototype instead of `child_process.spawn`, since Playwright 1.50 holds a copy of the module's functions. Returns the shell command
 * lines of the web servers; those of later ones are added.
 */
function listenToChildren(webServers: Log | null): readonly string[] {
  const prototype = ChildProcess.prototype as unknown as Spawnable;
  const original = prototype.spawn;
  const commands: string[] = [];
  let own: Log | null = null;
  const logOf = ({ shell, args }: SpawnOptions): Log | null => {
    if (!isCalledByPlaywright()) return dir ? (own ??= openLog(dir)) : null;
    if (!webServers || !shell) return null;
    commands.push(args?.at(-1) ?? '');
    return webServers;
  };
  prototype.spawn = function spawn(options) {
    const result = original.call(this, options);
    guarded('the output of a process could not be listened to', () => {
      const log = logOf(options);
      if (log) listen(this, log);
    });
    return result;
  };
  return commands;
}

function openLog(runDir: string): Log {
  const folder = path.join(runDir, 'servers');
  fs.mkdirSync(folder, { recursive: true });
  return new ServerLog(path.join(folder, `${process.pid}.log`));
}

function listen(child: Child, log: Log): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    const [decoder, write] = [new StringDecoder('utf8'), log.stream()];
    const push = stream.push.bind(stream);
    stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (Buffer.isBuffer(chunk)) write(decoder.write(chunk));
      return push(chunk, encoding);
    };
  }
}

const api = { listenToChildren };
module.exports = api;
export type Api = typeof api;
