import type { ChildProcess as Child } from 'node:child_process';
import type { Log } from './server-log.cjs';

const { ChildProcess } = require('node:child_process') as typeof import('node:child_process');
const fs = require('node:fs') as typeof import('node:fs');
const path = require('node:path') as typeof import('node:path');
const { StringDecoder } = require('node:string_decoder') as typeof import('node:string_decoder');
const { dir, note } = require('./run-folder.cjs') as import('./run-folder.cjs').Api;
const { ServerLog } = require('./server-log.cjs') as import('./server-log.cjs').Api;
const { isCalledByPlaywright } =
  require('./called-by-playwright.cjs') as import('./called-by-playwright.cjs').Api;

/** `child_process.ChildProcess` has had this untyped method since Node 2. */
interface Spawnable {
  spawn: (this: Child, options: unknown) => unknown;
}

/**
 * Keeps the piped output of processes that fixtures, hooks and globalSetup start, such as an API server of a worker.
 * Observes what is pushed into the streams instead of reading them, so that the suite can still read them itself.
 */
function listenToSuiteServers(): void {
  const prototype = ChildProcess.prototype as unknown as Spawnable;
  const original = prototype.spawn;
  let log: Log | null = null;
  prototype.spawn = function spawn(options) {
    const result = original.call(this, options);
    try {
      if (dir && !isCalledByPlaywright()) listen(this, (log ??= openLog(dir)));
    } catch (error) {
      note('a server of the suite could not be listened to', error);
    }
    return result;
  };
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

const api = { listenToSuiteServers };
module.exports = api;
export type Api = typeof api;
