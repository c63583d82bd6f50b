import type { DiagnosedFailure } from '../model/cause.js';
import { splitUrl } from '../urls.js';
import type { Evidence, NetworkEntry } from '../model/evidence.js';

/** A request that was answered with a redirect or a refusal, for example because nobody is signed in. */
interface RedirectOrRefusal {
  readonly asked: string;
  /** The page or the status that was given instead. */
  readonly given: string;
}

/**
 * Returns a key for each failure whose request got the same redirect or refusal as different requests of other failures. An expired session,
 * for example, has as many symptoms as there are tests. If all tests asked for the same page, such as a start page that redirects, the answer
 * means nothing.
 */
export function sharedRedirects(failures: readonly DiagnosedFailure[]): Map<DiagnosedFailure, string> {
  const redirects = failures.flatMap((failure) => {
    const turned = redirectOrRefusal(failure);
    return turned === null ? [] : [{ failure, ...turned }];
  });
  const asked = new Map<string, Set<string>>();
  for (const redirect of redirects)
    asked.set(redirect.given, (asked.get(redirect.given) ?? new Set()).add(redirect.asked));
  const together = redirects.filter(({ given }) => (asked.get(given)?.size ?? 0) > 1);
  return new Map(together.map(({ failure, given }) => [failure, `turned away | ${given}`]));
}

function redirectOrRefusal({
  diagnosis: { category, facts },
  evidence,
}: DiagnosedFailure): RedirectOrRefusal | null {
  const [, asked, host = '', status] =
    /^(\S+ (https?:\/\/[^/]+)?\S*) → (401)$/.exec(facts.endpoint ?? '') ?? [];
  if (category === 'network-error' && asked !== undefined) return { asked, given: `${host} ${status}` };
  const redirect = category === 'ui-error' ? redirectOf(evidence) : null;
  return (
    redirect && { asked: withoutQueryOrHash(redirect.url), given: withoutQueryOrHash(evidence.pageUrl ?? '') }
  );
}

/**
 * Returns the request that was redirected to the page on which the test failed; null if there is none, or if passing tests have the same
 * redirect.
 */
export function redirectOf({ network, pageUrl }: Pick<Evidence, 'network' | 'pageUrl'>): NetworkEntry | null {
  const documents = network.filter(({ resourceType }) => resourceType === 'document');
  const page = documents.findLastIndex(
    ({ url }) => withoutQueryOrHash(url) === withoutQueryOrHash(pageUrl ?? ''),
  );
  const first = documents.slice(0, Math.max(0, page)).findLastIndex((request) => !isRedirected(request)) + 1;
  const asked = first < page ? documents[first] : undefined;
  if (!asked || asked.method !== 'GET' || asked.common) return null;
  return withoutQueryOrHash(asked.url) === withoutQueryOrHash(pageUrl ?? '') ? null : asked;
}

/** Whether a request for a page was answered with a redirect to another one. */
export function isRedirected({
  resourceType,
  status,
}: Pick<NetworkEntry, 'resourceType' | 'status'>): boolean {
  return resourceType === 'document' && status !== null && status >= 300 && status < 400 && status !== 304;
}

/** Returns a URL without its query and fragment. */
function withoutQueryOrHash(url: string): string {
  const parts = splitUrl(url);
  return parts === null ? url : parts.origin + parts.path.replace(/\?.*$/, '');
}
