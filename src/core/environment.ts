import type { DiagnosedFailure } from './cause.js';
import { ownOrigin } from './classify/own-origin.js';
import type { Evidence } from './evidence.js';

/** From this many failures on, refused connections count as a failure of the environment (HL-7). */
const many = 3;
const refused =
  /(?:ERR_CONNECTION_REFUSED|NS_ERROR_CONNECTION_REFUSED|Could not connect to server|ECONNREFUSED)/;
const address = /(https?:\/\/[^\s"'/)]{1,260})/;
const hostAndPort = /ECONNREFUSED ((?:\d{1,3}\.){3}\d{1,3}|[\da-f:]{2,40}|[\w.-]{1,200}):(\d{2,5})/i;

/** Returns the origin that refused connections in this failure, or null if there is none or the server's output says why. */
export function deadServer({ evidence, diagnosis }: DiagnosedFailure): string | null {
  if (diagnosis.category !== 'network-error' || diagnosis.why.some(({ source }) => source === 'server'))
    return null;
  const line = evidence.errors.map(({ message }) => message).find((message) => refused.test(message));
  if (line === undefined) return refusedRequest(evidence);
  return originIn(line);
}

/** Returns what a person can do about a failure that is the machine's; null if it is not, or if a look at the machine has shown otherwise. */
function adviceOf({ diagnosis, machine = diagnosis.advice }: DiagnosedFailure): string | null {
  return machine ?? null;
}

/**
 * Returns why no agent can help with these failures of one cause (HL-7), or null: only the machine can be mended (a browser, a program or a
 * snapshot that does not exist, a port that is taken), Playwright refuses to run any test, they passed although they are marked with
 * `test.fail()`, or many of them failed on the same dead server.
 */
export function environmentOf(members: readonly DiagnosedFailure[]): string | null {
  const [advice, ...others] = new Set(members.map(adviceOf));
  if (advice && others.length === 0) return advice;
  // The mark may go only by a person's hand: an agent could turn the test green only by breaking the app.
  if (members.every(({ failure }) => failure.scope === 'test' && failure.status === 'passed'))
    return 'it passes although it is marked to fail: if what it tests works now, remove its `test.fail`';
  const origins = new Set(members.map(deadServer));
  const [origin] = origins;
  if (origins.size !== 1 || !origin || members.length < many) return null;
  return `${origin} refuses connections: ${members.length} tests failed the same way, and the evidence does not say why`;
}

/** Returns the origin of the app's own request that was refused; a request to another site says nothing about the app's servers. */
function refusedRequest(evidence: Evidence): string | null {
  const own = ownOrigin(evidence);
  const request = evidence.network.find(
    ({ failure, url }) => failure !== null && refused.test(failure) && own(url),
  );
  return request ? (address.exec(request.url)?.[1] ?? null) : null;
}

function originIn(message: string): string | null {
  const from = message.search(refused);
  const url = address.exec(message.slice(from))?.[1] ?? address.exec(message)?.[1];
  if (url) return url;
  const [, host, port] = hostAndPort.exec(message) ?? [];
  return host && port ? `http://${host.includes(':') ? `[${host}]` : host}:${port}` : null;
}
