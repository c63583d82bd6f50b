import type { DiagnosedFailure } from '../model/cause.js';
import { hasFailed, type NetworkEntry, unanswered } from '../model/evidence.js';
import { splitUrl } from '../urls.js';

const lostConnection =
  /ERR_(?:CONNECTION_\w+|EMPTY_RESPONSE|SOCKET\w*|TIMED_OUT)|NS_ERROR_(?:CONNECTION_REFUSED|NET_\w+)|Could not connect to server|connection was lost|ECONN(?:REFUSED|RESET)|ETIMEDOUT|socket hang up/;

/** A server that stopped answering a test. */
interface Outage {
  readonly failure: DiagnosedFailure;
  readonly origin: string;
  /** When the first unanswered request was sent, in milliseconds since the epoch. */
  readonly since: number;
  /** True if it answered no request at all. */
  readonly isTotal: boolean;
}

/** The failures that share an outage. */
export interface SharedOutages {
  readonly keys: ReadonlyMap<DiagnosedFailure, string>;
  /** The failures that began after the server stopped answering; their evidence explains nothing. */
  readonly later: ReadonlySet<DiagnosedFailure>;
}

/** Finds the failures that a hanging or dead server caused; only the first one shows the reason. */
export function findSharedOutages(failures: readonly DiagnosedFailure[]): SharedOutages {
  const outages = failures
    .flatMap((failure) => findOutage(failure) ?? [])
    .toSorted((a, b) => a.since - b.since);
  const keys = new Map<DiagnosedFailure, string>();
  const later = new Set<DiagnosedFailure>();
  for (const { failure, origin, isTotal } of outages) {
    const first = outages.find((outage) => outage.origin === origin);
    if (!first || first.failure === failure || !isTotal) continue;
    const key = `outage | ${origin}`;
    keys.set(first.failure, key).set(failure, key);
    if (!first.isTotal) later.add(failure);
  }
  return { keys, later };
}

function findOutage(failure: DiagnosedFailure): Outage | null {
  const { network } = failure.evidence;
  const isLost = (request: NetworkEntry) =>
    request.status === null && (request.failure === unanswered || lostConnection.test(request.failure ?? ''));
  const at = network.findIndex(isLost);
  const first = network[at];
  const origin = first && splitUrl(first.url)?.origin;
  if (!first || !origin || failure.diagnosis.category === 'ui-error') return null;
  const serverRequests = network.filter(({ url }) => splitUrl(url)?.origin === origin);
  // A server that answers later requests has no outage.
  if (
    serverRequests.some(
      (request) => request.time > first.time && !hasFailed(request) && request.status !== null,
    )
  )
    return null;
  return { failure, origin, since: first.time, isTotal: serverRequests.every(isLost) };
}
