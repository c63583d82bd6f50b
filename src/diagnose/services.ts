import type { Evidence } from '../model/evidence.js';
import { isDecisive, type Reason } from '../model/diagnosis.js';
import { stripAnsi } from '../visible-text.js';
import { splitUrl } from '../urls.js';
import { normalise } from './normalise.js';

/** A service that a server of the suite could not reach, with the line that says so. */
export interface UnreachedService {
  readonly line: string;
  readonly host: string;
  /** Null if the line names only a host. */
  readonly port: number | null;
}

/** How runtimes and drivers say that nothing answers at an address; the host is the first group, the port the second. */
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

/** What a client says after it has waited in vain for a connection. */
const gaveUp =
  /MaxRetriesPerRequest|\bconnection (?:is )?(?:closed|terminated|timeout)|\bclient is (?:closed|offline)|isn't writeable|ServerSelection|Timed out fetching a new connection|ECONN|ENOTFOUND|refused|can't reach/i;

/** Returns the service that a line of a log says it could not reach, or null. */
function serviceIn(line: string): UnreachedService | null {
  const match = refusals.map((refusal) => refusal.exec(line)).find(Boolean);
  return match?.[1]
    ? { line: line.trim().slice(0, 300), host: match[1], port: match[2] ? Number(match[2]) : null }
    : null;
}

/**
 * Returns the service whose absence decided: the deciding line of a server names it, or says that a connection was given up that an earlier line
 * names. What passing tests see, too, decides nothing by itself, nor does an address at which the app answers.
 */
export function decidingService(
  { serverLines, serverOutput, ofOthers = [], network }: Evidence,
  [decided]: readonly Reason[],
): UnreachedService | null {
  if (decided?.source !== 'server' || !isDecisive(decided.confidence)) return null;
  if (decided.category !== 'database-error' && decided.category !== 'network-error') return null;
  const lines = [...serverOutput.split('\n'), ...(serverLines ?? []).map(({ text }) => text)].map(stripAnsi);
  const others = new Set(ofOthers.map(normalise));
  const isDecided = (line: string) => line.includes(decided.evidence);
  const found =
    lines
      .filter(isDecided)
      .flatMap((line) => (others.has(normalise(line)) ? [] : (serviceIn(line) ?? [])))[0] ??
    (gaveUp.test(decided.evidence) ? lines.flatMap((line) => serviceIn(line) ?? []).at(-1) : undefined);
  if (!found) return null;
  const isAnswering = network.some(
    ({ url, status }) => status !== null && splitUrl(url)?.origin.endsWith(`:${found.port}`),
  );
  return isAnswering ? null : found;
}

/** Returns what to do about a service that is not there. */
export function serviceAdvice({ host, port }: UnreachedService): string {
  const address = port === null ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return port === null
    ? `a server of the suite does not find the host ${address}: start what it names, or configure another one`
    : `nothing listens at ${address}, where a server of the suite looks for a service: start it`;
}
