import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { freePort } from './free-port.js';

/** A PostgreSQL server for tests; its data is deleted when it is stopped. */
export interface Postgres {
  /** Creates a database and returns its URL, `postgres://…/<name>`. */
  newDatabase(name: string): Promise<string>;
  /** Runs SQL in the database of this URL. */
  run(url: string, sql: string): Promise<void>;
  stop(): Promise<void>;
}

/** Finds the folder of the server's programs, on PATH or in the folders of Debian; null if none is installed. */
export function postgresPrograms(): string | null {
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter);
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const folders = [...onPath, ...versions.map((version) => path.join(debian, version, 'bin'))];
  return (
    folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(path.join(folder, name)))) ??
    null
  );
}

/** Creates and starts a cluster on the loopback interface. PostgreSQL refuses to run as root, so root starts it as another user. */
export async function startPostgres(programs: string): Promise<Postgres> {
  const home = mkdtempSync(path.join(tmpdir(), 'self-heal-pg-'));
  const who = process.getuid?.() === 0 ? findUnprivilegedUser() : {};
  if (who.uid !== undefined && who.gid !== undefined) chownSync(home, who.uid, who.gid);
  const data = path.join(home, 'data');
  const env = { ...process.env, LC_ALL: 'C', HOME: home };
  execFileSync(
    path.join(programs, 'initdb'),
    ['-D', data, '-U', 'tests', '--auth=trust', '--no-sync', '-E', 'UTF8'],
    { ...who, env, cwd: home, stdio: 'pipe' },
  );
  const port = await freePort();
  const args = ['-D', data, '-p', String(port), '-k', home, '-c', 'listen_addresses=127.0.0.1', '-F'];
  const server = spawn(path.join(programs, 'postgres'), args, {
    ...who,
    env,
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await waitUntilReady(server);
  const url = (name: string) => `postgres://tests@127.0.0.1:${port}/${name}`;
  return {
    newDatabase: async (name) => {
      await run(url('postgres'), `create database ${name}`);
      return url(name);
    },
    run,
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function waitUntilReady(server: ChildProcess): Promise<void> {
  const said: string[] = [];
  for await (const line of createInterface({ input: server.stderr! })) {
    said.push(line);
    if (line.includes('ready to accept connections')) {
      server.stderr!.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start:\n${said.join('\n')}`);
}

function findUnprivilegedUser(): { uid?: number; gid?: number } {
  const id = (flag: string, user: string) =>
    Number(execFileSync('id', [flag, user], { stdio: 'pipe', encoding: 'utf8' }));
  for (const user of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', user), gid: id('-g', user) };
    } catch {
      // This machine has no such user.
    }
  }
  return {};
}
