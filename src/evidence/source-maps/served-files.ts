import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AppFolders } from './app-folders.js';

/** A base path in front of the served files (`/shop/assets/x.js`) has at most so many parts. */
const deepestBase = 2;

/**
 * Where the file of a script's address may lie, the likeliest first: a development server's `/@fs/…` and `/src/…`, the folders
 * that builds are written into, Next.js' `/_next/…`. Empty for what names no file.
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

/** The URL that an address is, without its hash, or null for a path. */
export function urlOf(address: string): URL | null {
  if (!/^(?:https?|file):/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  url.hash = '';
  return url;
}

/** The path of a `file:` URL, or null where it is none of this system. */
export function pathOfFileUrl(url: URL): string | null {
  try {
    return fileURLToPath(new URL(url.pathname, 'file:///'));
  } catch {
    return null;
  }
}

/** Undoes percent-encoding where it can be undone. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function namesOf(pathname: string): string[] {
  const parts = pathname.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  const bases = Array.from({ length: Math.min(deepestBase + 1, parts.length) }, (_, base) => base);
  const names = bases.map((base) => parts.slice(base).join('/'));
  return pathname.startsWith('/_next/') ? [parts.slice(1).join('/'), ...names] : names;
}
