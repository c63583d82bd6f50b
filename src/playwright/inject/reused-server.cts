import type { FullConfig } from '@playwright/test/reporter';

interface WebServer {
  readonly command?: string;
  readonly url?: string;
  readonly port?: number;
}

/**
 * Where a configured web server answers that Playwright did not start: one of an earlier run may serve old code (HL-9).
 * `commands` are the shell commands of the servers that it did start.
 */
function reusedServer(config: FullConfig, commands: readonly string[]): string | null {
  const reused = webServers(config).find(
    ({ command, url, port }) => (url || port) && !commands.some((one) => isFor(one, command ?? '')),
  );
  return reused ? (reused.url ?? `http://localhost:${reused.port}`) : null;
}

/** `cmd.exe` is given the command in quotes. */
function isFor(started: string, command: string): boolean {
  return started === command || started === `"${command}"`;
}

/** The public config knows a single server only; a list of them is private (Playwright 1.50 to 1.65). */
function webServers(config: FullConfig): readonly WebServer[] {
  const symbol = Object.getOwnPropertySymbols(config).find(
    (one) => one.description === 'configInternalSymbol',
  );
  const internal = symbol ? (Reflect.get(config, symbol) as { webServers?: WebServer[] }) : {};
  return internal.webServers ?? (config.webServer ? [config.webServer] : []);
}

const api = { reusedServer };
module.exports = api;
export type Api = typeof api;
