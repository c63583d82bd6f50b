import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection to a PostgreSQL server that breaks at a chosen moment. */
export interface BreakingProxy {
  /** The same database, through the proxy. */
  readonly url: string;
  /** Lets the next query with this text be executed, and breaks its connection before the answer arrives. */
  cutAfter(text: string): void;
  /** While away, breaks all existing and new connections. */
  away(isAway: boolean): void;
  close(): Promise<void>;
}

/** Creates a proxy to the server of a `postgres://` URL. */
export async function breakingProxy(target: string): Promise<BreakingProxy> {
  const to = new URL(target);
  let cut: string | null = null;
  let isAway = false;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    if (isAway) client.destroy();
    const upstream = connect(Number(to.port), to.hostname);
    let isLast = false;
    client.on('data', (data) => {
      if (cut !== null && data.includes(cut)) {
        cut = null;
        isLast = true;
      }
      upstream.write(data);
    });
    // The server answers once it has executed what was sent.
    upstream.on('data', (data) => {
      if (!isLast) client.write(data);
      else for (const socket of [client, upstream]) socket.destroy();
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => undefined).on('close', () => other.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cutAfter: (text) => void (cut = text),
    away: (is) => {
      isAway = is;
      if (is) for (const socket of open) socket.destroy();
    },
    close: async () => void server.close(),
  };
}
