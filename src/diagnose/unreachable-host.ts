import { type Evidence, type NetworkEntry } from '../model/evidence.js';
import { isLoopback, splitUrl } from '../urls.js';
import { stripAnsi } from '../visible-text.js';

/** The browser's errors for an unreachable host. */
export const unreachableError =
  /ERR_(?:NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|CONNECTION_\w+|ADDRESS_UNREACHABLE|TIMED_OUT|PROXY_\w+|TUNNEL_\w+)|NS_ERROR_(?:UNKNOWN_HOST|CONNECTION_REFUSED|NET_\w+|OFFLINE|PROXY_\w+)|Could not (?:connect|resolve)/;

/** True if a script or call from the page could not reach another site's host. */
export function hasUnreachableHost(
  { resourceType, url, status, failure }: NetworkEntry,
  isOwnUrl: (url: string) => boolean,
): boolean {
  return (
    /^(?:script|xhr|fetch)$/.test(resourceType) &&
    status === null &&
    unreachableError.test(failure ?? '') &&
    !isOwnUrl(url)
  );
}

/** A page's own message that it could not load something. */
const pageLoadError =
  /\b(?:fail(?:ed|ure)?|unavailable|offline|could ?n[o']t|can ?n?[o']t|unable|problems?|trouble|issues?|errors?)\b.{0,60}\b(?:connect|load|reach|network|internet|upload|download|send|sav(?:e|ing)|fetch)|\b(?:connect\w*|load\w*|upload|download|network|request)\b.{0,30}\b(?:failed|error|unavailable|problems?|issues?)\b|\b(?:is|are) (?:currently |temporarily )?(?:unavailable|offline)\b|\btry again later\b/i;
const frameLocator = /frameLocator\(|contentFrame\(|\biframe\b/;

/**
 * True if a request that could not reach its host may explain a failure. Unless passing tests reach that host, the failure must visibly depend on
 * it: an error names the host, the page is blank or says that it could not load, or a frame is missing.
 */
export function mayExplainFailure(
  { common, url }: NetworkEntry,
  { errors, failedStep, ariaSnapshot }: Pick<Evidence, 'errors' | 'failedStep' | 'ariaSnapshot'>,
): boolean {
  if (common === false || ariaSnapshot === '') return true;
  const host = splitUrl(url)?.host ?? url;
  const failureTexts = [
    failedStep ?? '',
    ...errors.flatMap(({ message, causes }) => [message, ...causes]),
  ].map(stripAnsi);
  return (
    failureTexts.some((text) => text.includes(host) || frameLocator.test(text)) ||
    [...failureTexts.flatMap((text) => /^[ \t]*Received.*$/m.exec(text) ?? []), ariaSnapshot ?? ''].some(
      (text) => pageLoadError.test(text),
    )
  );
}

/** A host name that resolves only within a container or office network, so it comes from the app's own configuration. */
const internalName = /^[^.]+$|\.(?:internal|local|lan|svc|cluster\.local|docker)$/i;

/** True if the app itself named the host of a request: in a response, in a redirect, or by a name that is not public. */
export function isNamedByApp(
  { url }: NetworkEntry,
  { network }: Pick<Evidence, 'network'>,
  isOwnUrl: (url: string) => boolean,
): boolean {
  const parts = splitUrl(url);
  if (!parts || isLoopback(parts.host)) return false;
  const namesHost = ({ responseBody, responseHeaders, resourceType, url: other }: NetworkEntry) =>
    isOwnUrl(other) &&
    ((/^(?:fetch|xhr|api)$/.test(resourceType) && responseBody?.includes(parts.origin)) ||
      responseHeaders['location']?.includes(parts.origin));
  return internalName.test(parts.host) || network.some(namesHost);
}
