import { ChildProcess, type ChildProcess as Child } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { runFiles } from '../report-format.js';
import { runDir, runGuarded } from './run-folder.js';
import { ServerLog } from './server-log.js';

interface SpawnOptions {
  readonly shell?: unknown;
  readonly args?: readonly string[];
}

/** `child_process.ChildProcess` has had this untyped method since Node 2. */
interface Spawnable {
  spawn: (this: Child, options: SpawnOptions) => unknown;
}

/**
 * Logs the piped output of all processes that this process starts from now on. The output of Playwright's web servers goes into `webServers`,
 * whatever the config sets for `stdout` and `stderr`. The output of processes that fixtures, hooks and globalSetup start, such as an API server of a
 * worker, goes into a log of this process. Observes data when it is pushed into the streams, so all other readers still get it.
 * Playwright's debug namespace is no alternative, because the user's list reporter would print the server output. Patches the prototype instead of
 * `child_process.spawn`, because Playwright 1.50 has a copy of the module's functions. Returns the shell command lines of the web servers, a list that
 * grows as they start.
 */
export function logChildOutput(webServers: ServerLog | null): readonly string[] {
  const prototype = ChildProcess.prototype as unknown as Spawnable;
  const original = prototype.spawn;
  const commands: string[] = [];
  let ownLog: ServerLog | null = null;
  const chooseLog = ({ shell, args }: SpawnOptions): ServerLog | null => {
    if (!isCalledByPlaywright()) return runDir ? (ownLog ??= openLog(runDir)) : null;
    if (!webServers || !shell) return null;
    commands.push(args?.at(-1) ?? '');
    return webServers;
  };
  prototype.spawn = function spawn(options) {
    const result = original.call(this, options);
    runGuarded("a process's output could not be logged", () => {
      const log = chooseLog(options);
      if (log) logOutput(this, log);
    });
    return result;
  };
  watchForKills();
  return commands;
}

/** Processes that this process has ended. Their later output does not explain an earlier failure. */
const stoppedPids = new Set<number>();

/** Observes `process.kill`, which Playwright and other code use to end whole process groups. */
function watchForKills(): void {
  const originalKill = process.kill.bind(process);
  process.kill = (pid, signal = 'SIGTERM') => {
    if (/^SIG(?:TERM|INT|QUIT|KILL)$/.test(String(signal))) stoppedPids.add(Math.abs(pid));
    return originalKill(pid, signal);
  };
}

function openLog(runDir: string): ServerLog {
  const folder = path.join(runDir, runFiles.servers);
  fs.mkdirSync(folder, { recursive: true });
  // Playwright sets the index before it loads any test.
  const worker = process.env['TEST_WORKER_INDEX'];
  return new ServerLog(path.join(folder, `${worker === undefined ? '' : `${worker}-`}${process.pid}.log`));
}

function logOutput(child: Child, log: ServerLog): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    const [decoder, write] = [new StringDecoder('utf8'), log.openStream()];
    const push = stream.push.bind(stream);
    stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (Buffer.isBuffer(chunk) && !stoppedPids.has(child.pid ?? 0)) write(decoder.write(chunk));
      return push(chunk, encoding);
    };
  }
}

/** True if Playwright itself starts a process: the first caller outside of Node's code and this folder decides. */
function isCalledByPlaywright(): boolean {
  const caller = listCallers().find(
    (name) => !name.startsWith('node:') && path.dirname(name) !== import.meta.dirname,
  );
  return /[\\/]playwright(?:-core)?[\\/]lib[\\/]/.test(caller ?? '');
}

function listCallers(): string[] {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  try {
    Error.stackTraceLimit = 20;
    Error.prepareStackTrace = (_error, sites) => sites.map((site) => site.getFileName() ?? 'node:');
    return new Error('who calls').stack as unknown as string[];
  } finally {
    Reflect.set(Error, 'prepareStackTrace', prepareStackTrace);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * The option to add to `NODE_OPTIONS` for workers. Node reads quoted values there with backslash escapes, so paths with
 * spaces or backslashes work: https://nodejs.org/api/cli.html#node_optionsoptions.
 */
export const preloadOption = `--require ${JSON.stringify(path.join(import.meta.dirname, 'worker-output.cjs'))}`;

/** Removes the option again, so that processes started by a test do not inherit it. */
export function removePreload(): void {
  const rest = (process.env['NODE_OPTIONS'] ?? '').replace(preloadOption, '').trim();
  if (rest === '') delete process.env['NODE_OPTIONS'];
  else process.env['NODE_OPTIONS'] = rest;
}
