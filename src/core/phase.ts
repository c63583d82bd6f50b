import type { Location } from './failure.js';

/** A web server of a Playwright config. */
export interface WebServer {
  readonly command: string;
  /** Relative to the folder in which the suite was started; `.` is that folder. */
  readonly cwd: string;
  /** What Playwright waits for, or null. */
  readonly url: string | null;
}

/** What Playwright was doing for the suite when it failed outside of its tests. */
export interface Phase {
  readonly kind: 'config' | 'web-server' | 'global-setup';
  /** Where the config says what to do; null if that is not known. */
  readonly at: Location | null;
  /** The web servers that may have failed; empty in another phase. */
  readonly servers: readonly WebServer[];
  /** What the global set-up runs, as the config names it, or null. */
  readonly file: string | null;
}

/** What was done for a test before it: the projects on which its own depends, and the stored session that it starts with. */
export interface SetUp {
  readonly projects: readonly string[];
  /** Relative to the folder in which the suite was started, or null. */
  readonly storageState: string | null;
  /** How long before the test that file was written, in milliseconds; null if it does not exist. */
  readonly storageAgeMs: number | null;
}

/** Formats a web server: `node server.mjs` in e2e, awaited at http://localhost:3000. */
export function serverLine({ command, cwd, url }: WebServer): string {
  const place = cwd === '.' ? '' : ` in ${cwd}`;
  return `${command}${place}${url === null ? '' : `, awaited at ${url}`}`;
}

/** Describes what failed of a suite, as far as Playwright's error says only that it did; null if its error says it. */
export function phaseInWords({ kind, servers }: Phase, message: string): string | null {
  const [server, ...others] = servers;
  if (kind !== 'web-server' || !server || others.length > 0) return null;
  const exit = /Exit code: (\d+)/.exec(message)?.[1];
  if (exit !== undefined) return `the web server \`${server.command}\` ended with exit code ${exit}`;
  if (message.includes('exited early'))
    return `the web server \`${server.command}\` ended before it answered`;
  const waited = /Timed out waiting (\d+) ?ms/.exec(message)?.[1];
  if (waited === undefined) return null;
  return `the web server \`${server.command}\`${server.cwd === '.' ? '' : ` in ${server.cwd}`} did not become available${server.url === null ? '' : ` at ${server.url}`} within ${Number(waited) / 1000} s`;
}

/** Describes the set-up of a test in a line; null if there was none. */
export function setUpLine({ projects, storageState, storageAgeMs }: SetUp): string | null {
  const ran = projects.length > 0 ? [`set-up projects that ran before: ${projects.join(', ')}`] : [];
  const age =
    storageAgeMs === null
      ? 'which does not exist'
      : `written ${Math.round(storageAgeMs / 1000)} s before the test`;
  const session = storageState === null ? [] : [`starts with the stored session ${storageState}, ${age}`];
  const told = [...ran, ...session];
  return told.length > 0 ? told.join('; ') : null;
}
