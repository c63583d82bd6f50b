import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { tryOr } from '../result.js';

/** A program that listens on a port on this machine; unknown details are null. */
export interface PortListener {
  readonly pid: number | null;
  /** Its command line, at most 120 characters. */
  readonly command: string | null;
  /** The folder in which it runs. */
  readonly folder: string | null;
}

const CONNECT_TIMEOUT_MS = 1_000;
const run = promisify(execFile);

/** Returns the loopback addresses at which a program listens on a TCP port. */
export async function findListeningAddresses(port: number): Promise<readonly string[]> {
  const hosts = ['127.0.0.1', '::1'];
  const answers = await Promise.all(hosts.map((host) => canConnect(host, port)));
  return hosts.filter((_, at) => answers[at]);
}

/** Returns the program that listens on a TCP port on this machine, or null. */
export async function findListener(port: number): Promise<PortListener | null> {
  if ((await findListeningAddresses(port)).length === 0) return null;
  const unknownListener = { pid: null, command: null, folder: null };
  if (process.platform === 'win32') return unknownListener;
  const listener = await (
    process.platform === 'linux' ? findListenerInProc(port) : findListenerByLsof(port)
  ).catch(() => null);
  return listener ?? unknownListener;
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const finish = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => finish(true));
    socket.once('timeout', () => finish(false));
    socket.once('error', () => finish(false));
  });
}

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTEN_STATE = '0A';

async function findListenerInProc(port: number): Promise<PortListener | null> {
  const sockets = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/net/${name}`, 'utf8')
      .split('\n')
      .flatMap((line) => {
        // sl, local address and port in hexadecimal, remote ones, state, queues, timer, retransmits, uid, timeout, inode
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
        const isListener = state === LISTEN_STATE && Number.parseInt(local.split(':')[1] ?? '', 16) === port;
        return isListener ? [`socket:[${inode}]`] : [];
      }),
  );
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && holdsSocket(name, sockets));
  if (pid === undefined) return null;
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  return { pid: Number(pid), command: command.slice(0, 120), folder: readlinkSync(`/proc/${pid}/cwd`) };
}

function holdsSocket(pid: string, sockets: readonly string[]): boolean {
  const files = tryOr([], () => readdirSync(`/proc/${pid}/fd`));
  return files.some((fd) => sockets.includes(tryOr('', () => readlinkSync(`/proc/${pid}/fd/${fd}`))));
}

async function findListenerByLsof(port: number): Promise<PortListener | null> {
  const { stdout } = await run('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fp']);
  const pid = /^p(\d+)$/m.exec(stdout)?.[1];
  if (pid === undefined) return null;
  const [psOutput, lsofOutput] = await Promise.all([
    run('ps', ['-o', 'command=', '-p', pid]),
    run('lsof', ['-a', '-p', pid, '-d', 'cwd', '-Fn']),
  ]);
  const folder = /^n(.+)$/m.exec(lsofOutput.stdout)?.[1] ?? null;
  return { pid: Number(pid), command: psOutput.stdout.trim().slice(0, 120), folder };
}
