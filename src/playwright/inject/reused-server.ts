import type { FullConfig } from '@playwright/test/reporter';

interface WebServer {
  readonly command?: string;
  readonly url?: string;
  readonly port?: number;
}

/**
 * Returns the URL of a configured web server that Playwright did not start, since one was already running: a server of
 * an earlier run may serve old code (HL-9). `commands` are the shell commands of the servers that Playwright did start.
 */
export function reusedServer(config: FullConfig, commands: readonly string[]): string | null {
  const reused = webServers(config).find(
    ({ command, url, port }) => (url || port) && !commands.some((one) => isFor(one, command ?? '')),
  );
  return reused ? (reused.url ?? `http://localhost:${reused.port}`) : null;
}

/** On Windows, `cmd.exe` receives the command in quotes. */
function isFor(started: string, command: string): boolean {
  return started === command || started === `"${command}"`;
}

/** The public config has only a single server; the list of servers is private (Playwright 1.50 to 1.65). */
function webServers(config: FullConfig): readonly WebServer[] {
  const symbol = Object.getOwnPropertySymbols(config).find(
    (one) => one.description === 'configInternalSymbol',
  );
  const internal = symbol ? (Reflect.get(config, symbol) as { webServers?: WebServer[] }) : {};
  return internal.webServers ?? (config.webServer ? [config.webServer] : []);
}
