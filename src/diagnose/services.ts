import type { Evidence } from '../model/evidence.js';
import { isDecisive, type Reason } from '../model/diagnosis.js';
import { stripAnsi } from '../visible-text.js';
import { formatAddress, splitUrl } from '../urls.js';
import { normalize } from './normalize.js';

/** A service that a server of the suite could not reach, and the log line about it. */
export interface UnreachableService {
  readonly line: string;
  readonly host: string;
  /** Null if the line names only a host. */
  readonly port: number | null;
}

/** Messages of runtimes and drivers that nothing listens at an address; the first group is the host, the second the port. */
const refusals: readonly RegExp[] = [
  /\bconnect ECONNREFUSED \[?((?:\d{1,3}\.){3}\d{1,3}|::1|[\w.-]+)\]?:(\d{2,5})\b/,
  /\bgetaddrinfo (?:ENOTFOUND|EAI_AGAIN) ([\w.-]{1,200})(?::(\d{2,5}))?/,
  /\bconnection to server at "([^"\n]{1,200})"(?: \([^)\n]{0,80}\))?, port (\d{2,5}) failed: Connection refused/,
  /\bcould not translate host name "([^"\n]{1,200})" to address/,
  /Can't reach database server at [`'"]?([\w.-]{1,200})[`'"]?:[`'"]?(\d{2,5})/,
  /\bdial tcp (?:lookup )?\[?([\w.-]{1,200}|::1)\]?(?::(\d{2,5}))?: (?:connect: connection refused|no such host)/,
  /\bError \d{1,3} connecting to ([\w.-]{1,200}):(\d{2,5})\. Connection refused/,
  /\bConnection to ([\w.-]{1,200}):(\d{2,5}) refused/,
];

/** Messages of a client that gave up waiting for a connection. */
const clientGaveUp =
  /MaxRetriesPerRequest|\bconnection (?:is )?(?:closed|terminated|timeout)|\bclient is (?:closed|offline)|isn't writeable|ServerSelection|Timed out fetching a new connection|ECONN|ENOTFOUND|refused|can't reach/i;

/** Returns the unreachable service that a log line names, or null. */
function parseService(line: string): UnreachableService | null {
  const match = refusals.map((refusal) => refusal.exec(line)).find(Boolean);
  return match?.[1]
    ? { line: line.trim().slice(0, 300), host: match[1], port: match[2] ? Number(match[2]) : null }
    : null;
}

/**
 * Returns the unreachable service that explains the failure, or null: the deciding server line names it, or is about a lost connection to a service
 * that an earlier line names. Lines that passing tests have, too, and addresses at which the app answers do not count.
 */
export function findDecidingService(
  { serverLines, serverOutput, ofOthers = [], network }: Evidence,
  [decidingReason]: readonly Reason[],
): UnreachableService | null {
  if (decidingReason?.source !== 'server' || !isDecisive(decidingReason.confidence)) return null;
  if (decidingReason.category !== 'database-error' && decidingReason.category !== 'network-error')
    return null;
  const lines = [...serverOutput.split('\n'), ...(serverLines ?? []).map(({ text }) => text)].map(stripAnsi);
  const others = new Set(ofOthers.map(normalize));
  const hasDecidingText = (line: string) => line.includes(decidingReason.evidence);
  const service =
    lines
      .filter(hasDecidingText)
      .flatMap((line) => (others.has(normalize(line)) ? [] : (parseService(line) ?? [])))[0] ??
    (clientGaveUp.test(decidingReason.evidence)
      ? lines.flatMap((line) => parseService(line) ?? []).at(-1)
      : undefined);
  if (!service) return null;
  const isAnswering = network.some(
    ({ url, status }) => status !== null && splitUrl(url)?.origin.endsWith(`:${service.port}`),
  );
  return isAnswering ? null : service;
}

/** Advises what to do about an unreachable service. */
export function adviseOnService({ host, port }: UnreachableService): string {
  return port === null
    ? `a server of the suite cannot resolve the host ${host}: start that service, or configure another host`
    : `nothing listens at ${formatAddress(host, port)}, where a server of the suite looks for a service: start it`;
}
