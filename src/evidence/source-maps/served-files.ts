import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { decoded } from '../../core/decoded.js';
import type { AppFolders } from './app-folders.js';

/** The maximum number of path segments of a base path before the served files (`/shop/assets/x.js`). */
const deepestBase = 2;

/**
 * Returns the files that a script's address may refer to, the most likely first: a development server's `/@fs/…` and
 * `/src/…`, files in build folders, Next.js's `/_next/…`. Empty if the address does not name a file.
 */
export function filesServedAt(address: string, { apps, builds }: AppFolders): string[] {
  const url = urlOf(address);
  if (url === null) return path.isAbsolute(address) ? [path.normalize(address)] : [];
  if (url.protocol === 'file:') return [pathOfFileUrl(url)].filter((file) => file !== null);
  const pathname = decoded(url.pathname);
  if (pathname.startsWith('/@fs/'))
    return [path.normalize(pathname.slice(4).replace(/^\/(?=[A-Za-z]:)/, ''))];
  return namesOf(pathname).flatMap((name) => [...builds, ...apps].map((folder) => path.join(folder, name)));
}

/** Returns an address as a URL without its fragment, or null for a path. */
export function urlOf(address: string): URL | null {
  if (!/^(?:https?|file):/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  url.hash = '';
  return url;
}

/** Returns the path of a `file:` URL, or null if it is not valid on this system. */
export function pathOfFileUrl(url: URL): string | null {
  try {
    return fileURLToPath(new URL(url.pathname, 'file:///'));
  } catch {
    return null;
  }
}

function namesOf(pathname: string): string[] {
  const parts = pathname.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  const bases = Array.from({ length: Math.min(deepestBase + 1, parts.length) }, (_, base) => base);
  const names = bases.map((base) => parts.slice(base).join('/'));
  return pathname.startsWith('/_next/') ? [parts.slice(1).join('/'), ...names] : names;
}
