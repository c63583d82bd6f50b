import type { DiagnosedFailure } from '../model/cause.js';
import { splitUrl } from '../urls.js';
import type { Evidence, NetworkEntry } from '../model/evidence.js';

/** A redirected or refused request, for example because nobody is signed in. */
interface RedirectOrRefusal {
  readonly requested: string;
  /** The page or the status that the app answered with. */
  readonly received: string;
}

/**
 * Returns a key for each failure whose request got the same redirect or refusal as different requests of other failures: an expired session, for
 * example, shows different symptoms in every test. Returns none if all tests requested the same page, such as a start page that always redirects.
 */
export function findSharedRedirects(failures: readonly DiagnosedFailure[]): Map<DiagnosedFailure, string> {
  const redirects = failures.flatMap((failure) => {
    const redirect = findRedirectOrRefusal(failure);
    return redirect === null ? [] : [{ failure, ...redirect }];
  });
  const requestsByRedirect = new Map<string, Set<string>>();
  for (const redirect of redirects)
    requestsByRedirect.set(
      redirect.received,
      (requestsByRedirect.get(redirect.received) ?? new Set()).add(redirect.requested),
    );
  const shared = redirects.filter(({ received }) => (requestsByRedirect.get(received)?.size ?? 0) > 1);
  return new Map(shared.map(({ failure, received }) => [failure, `turned away | ${received}`]));
}

function findRedirectOrRefusal({
  diagnosis: { category, facts },
  evidence,
}: DiagnosedFailure): RedirectOrRefusal | null {
  const [, requested, host = '', status] =
    /^(\S+ (https?:\/\/[^/]+)?\S*) → (401)$/.exec(facts.endpoint ?? '') ?? [];
  if (category === 'network-error' && requested !== undefined)
    return { requested, received: `${host} ${status}` };
  const redirect = category === 'ui-error' ? findRedirect(evidence) : null;
  return (
    redirect && {
      requested: dropQueryAndHash(redirect.url),
      received: dropQueryAndHash(evidence.pageUrl ?? ''),
    }
  );
}

/** Returns the request that was redirected to the page on which the test failed; null if there is none, or if passing tests have the same redirect. */
export function findRedirect({
  network,
  pageUrl,
}: Pick<Evidence, 'network' | 'pageUrl'>): NetworkEntry | null {
  const documents = network.filter(({ resourceType }) => resourceType === 'document');
  const pageIndex = documents.findLastIndex(
    ({ url }) => dropQueryAndHash(url) === dropQueryAndHash(pageUrl ?? ''),
  );
  const first =
    documents.slice(0, Math.max(0, pageIndex)).findLastIndex((request) => !isRedirected(request)) + 1;
  const requested = first < pageIndex ? documents[first] : undefined;
  if (!requested || requested.method !== 'GET' || requested.common) return null;
  return dropQueryAndHash(requested.url) === dropQueryAndHash(pageUrl ?? '') ? null : requested;
}

/** True if the app redirected a request for a page to another page. */
export function isRedirected({
  resourceType,
  status,
}: Pick<NetworkEntry, 'resourceType' | 'status'>): boolean {
  return resourceType === 'document' && status !== null && status >= 300 && status < 400 && status !== 304;
}

/** Returns a URL without its query and fragment. */
function dropQueryAndHash(url: string): string {
  const parts = splitUrl(url);
  return parts === null ? url : parts.origin + parts.path.replace(/\?.*$/, '');
}

/** A cookie that the app set, and the request that was redirected or refused without it. */
interface LostCookie {
  readonly settingRequest: NetworkEntry;
  readonly name: string;
  /** `Domain=localhost; Path=/` */
  readonly attributes: string;
  readonly deniedRequest: NetworkEntry;
}

const setCookie = /^([^=;\s]+)=([^;\n]+);?[ \t]*(.*)$/gm;
const deletesCookie = /max-age=0\b|expires=[^;]*\b1970\b/i;

/** Returns the last cookie that the browser did not keep: no later request to its server had it, and one was redirected or refused. Null if none. */
export function findLostCookie({ network }: Pick<Evidence, 'network'>): LostCookie | null {
  const lost = network.flatMap((settingRequest, at) => {
    const origin = splitUrl(settingRequest.url)?.origin;
    const later = network
      .slice(at + 1)
      .filter(({ url, resourceType }) => splitUrl(url)?.origin === origin && resourceType !== 'api');
    const deniedRequest = later.find(
      (entry) => isRedirected(entry) || entry.status === 401 || entry.status === 403,
    );
    const cookies = [...(settingRequest.responseHeaders['set-cookie'] ?? '').matchAll(setCookie)];
    return cookies.flatMap(([, name = '', , attributes = '']): LostCookie[] => {
      const isSent = later.some(({ requestHeaders }) => requestHeaders['cookie']?.includes(`${name}=`));
      return deniedRequest && !isSent && !deletesCookie.test(attributes)
        ? [{ settingRequest, name, attributes, deniedRequest }]
        : [];
    });
  });
  return lost.at(-1) ?? null;
}
