import type { Evidence } from './model/evidence.js';

const url =
  /^(?:https?|wss?):\/\/(?:[^/?#@\s]{0,200}@)?((?:\[[^\]]{1,60}\]|[^/?#:\s]{1,253}))(:\d{1,5})?([^#\s]*)/i;
const loopback =
  /^(?:localhost|.{1,100}\.localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|host\.docker\.internal)$/i;
/** Hosted back ends, which belong to the app although they have another domain. */
const hostedBackend =
  /\.(?:supabase\.(?:co|in|net)|firebaseio\.com|nhost\.run|hasura\.app|convex\.cloud|appwrite\.io)$/i;
const sharedSuffix =
  /^(?:vercel\.app|netlify\.app|github\.io|pages\.dev|workers\.dev|herokuapp\.com|web\.app|co\.\w\w|com\.\w\w)$/i;

/** Splits an absolute http(s) or ws(s) URL, with the query in `path`; returns null for anything else. */
export function splitUrl(text: string): { origin: string; host: string; path: string } | null {
  const match = url.exec(text);
  if (!match?.[1]) return null;
  const host = match[1].toLowerCase();
  return { host, origin: `${host}${match[2] ?? ''}`, path: match[3] || '/' };
}

/** Returns the path of a URL without its query, or any other text without its query. */
export function getPath(address: string): string {
  return (splitUrl(address)?.path ?? address).replace(/\?.*$/, '');
}

/** Formats a host and a port as `127.0.0.1:5432` or `[::1]:5432`. */
export function formatAddress(host: string, port: string | number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Returns a function that is true for URLs of the app: of the page's site, the local machine or a hosted back end, and for URLs
 * without an origin. If the page never loaded (`about:blank`), the first requested document determines the site. If there is none,
 * every host counts as the app's; noise rules name the usual third parties.
 */
export function createOwnUrlCheck({
  pageUrl,
  network,
}: Pick<Evidence, 'pageUrl' | 'network'>): (address: string) => boolean {
  const requested = network.find(({ resourceType }) => resourceType === 'document')?.url;
  const page = splitUrl(pageUrl ?? '') ?? splitUrl(requested ?? '');
  const site = page && findSite(page.host);
  return (address) => {
    const parts = splitUrl(address);
    if (!parts || isLoopback(parts.host) || hostedBackend.test(parts.host)) return true;
    return !page || isLoopback(page.host) ? page === null : findSite(parts.host) === site;
  };
}

/** True if a host is the local machine. */
export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

function findSite(host: string): string {
  const labels = host.split('.');
  const site = labels.slice(-2).join('.');
  return sharedSuffix.test(site) ? labels.slice(-3).join('.') : site;
}

/** Undoes percent-encoding; returns the text unchanged if that is not valid. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
