import { type Evidence, type NetworkEntry } from '../model/evidence.js';
import { isLoopback, splitUrl } from '../urls.js';
import { stripAnsi } from '../visible-text.js';

/** How a browser says that it did not reach a host. */
export const noWay =
  /ERR_(?:NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|CONNECTION_\w+|ADDRESS_UNREACHABLE|TIMED_OUT|PROXY_\w+|TUNNEL_\w+)|NS_ERROR_(?:UNKNOWN_HOST|CONNECTION_REFUSED|NET_\w+|OFFLINE|PROXY_\w+)|Could not (?:connect|resolve)/;

/** Whether a script or call of the page did not reach its host, which is of another site. */
export function isUnreached(
  { resourceType, url, status, failure }: NetworkEntry,
  own: (url: string) => boolean,
): boolean {
  return (
    /^(?:script|xhr|fetch)$/.test(resourceType) && status === null && noWay.test(failure ?? '') && !own(url)
  );
}

/** How a page says that it could not get what it needs. */
const pageSaysSo =
  /\b(?:fail(?:ed|ure)?|unavailable|offline|could ?n[o']t|can ?n?[o']t|unable|problems?|trouble|issues?|errors?)\b.{0,60}\b(?:connect|load|reach|network|internet|upload|download|send|sav(?:e|ing)|fetch)|\b(?:connect\w*|load\w*|upload|download|network|request)\b.{0,30}\b(?:failed|error|unavailable|problems?|issues?)\b|\b(?:is|are) (?:currently |temporarily )?(?:unavailable|offline)\b|\btry again later\b/i;
const inFrame = /frameLocator\(|contentFrame\(|\biframe\b/;

/**
 * Whether a request that did not reach its host may explain a failure. If passing tests lack the same, or no passing test shows whether they do,
 * something of the failure has to depend on it: an error that names the host, a page that is blank or says that it could not load, or a frame
 * that is missing.
 */
export function mayExplain(
  { common, url }: NetworkEntry,
  { errors, failedStep, ariaSnapshot }: Pick<Evidence, 'errors' | 'failedStep' | 'ariaSnapshot'>,
): boolean {
  if (common === false || ariaSnapshot === '') return true;
  const host = splitUrl(url)?.host ?? url;
  const said = [failedStep ?? '', ...errors.flatMap(({ message, causes }) => [message, ...causes])].map(
    stripAnsi,
  );
  return (
    said.some((text) => text.includes(host) || inFrame.test(text)) ||
    [...said.flatMap((text) => /^[ \t]*Received.*$/m.exec(text) ?? []), ariaSnapshot ?? ''].some((text) =>
      pageSaysSo.test(text),
    )
  );
}

/** A name that only resolves within a network of containers or of an office: the app's own configuration has it. */
const internalName = /^[^.]+$|\.(?:internal|local|lan|svc|cluster\.local|docker)$/i;

/** Whether the app itself named the host of a request in this run, in an answer or a redirect, or by a name that no public host has. */
export function isNamedByApp(
  { url }: NetworkEntry,
  { network }: Pick<Evidence, 'network'>,
  own: (url: string) => boolean,
): boolean {
  const parts = splitUrl(url);
  if (!parts || isLoopback(parts.host)) return false;
  const isNaming = ({ responseBody, responseHeaders, resourceType, url: other }: NetworkEntry) =>
    own(other) &&
    ((/^(?:fetch|xhr|api)$/.test(resourceType) && responseBody?.includes(parts.origin)) ||
      responseHeaders['location']?.includes(parts.origin));
  return internalName.test(parts.host) || network.some(isNaming);
}
