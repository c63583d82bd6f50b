import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { decoded } from '../../core/urls.js';
import { entriesOf, type ProjectFiles } from './project-files.js';

/** The folders of a project that served files may come from, as absolute paths. */
export interface AppFolders {
  /** Folders of apps: the project's root first, then that of the workspace, then their packages. */
  readonly apps: readonly string[];
  /** Folders that contain build output. */
  readonly builds: readonly string[];
}

const buildNames = new Set([
  'dist',
  'build',
  'out',
  'target',
  'public',
  '.next',
  '.vite',
  '.output',
  '.svelte-kit',
  'www',
]);
const servedNames = new Set(['client', 'browser', 'public', 'static', 'output', 'standalone', 'www']);
const mostInner = 30;
const appMarks =
  /^(?:package\.json|index\.html|app\.vue|(?:vite|next|webpack|nuxt|svelte|astro)\.config\.\w{2,3})$/;
/** A JVM's server has its page in `<module>/src/main/resources/static`. */
const deepest = 5;
const mostFolders = 400;

/** Searches the upper levels of a project, and of its workspace, at most 400 folders each; skips what cannot be read. */
export function findAppFolders({ root, workspace }: Pick<ProjectFiles, 'root' | 'workspace'>): AppFolders {
  const apps = new Set([root, workspace]);
  const builds = new Set<string>();
  for (const top of new Set([root, workspace])) {
    const queue = [{ folder: top, depth: 0 }];
    for (let at = 0; at < Math.min(queue.length, mostFolders); at += 1) {
      const { folder, depth } = queue[at] ?? { folder: top, depth: deepest };
      const entries = entriesOf(folder);
      if (entries.some((entry) => appMarks.test(entry.name))) apps.add(folder);
      for (const entry of entries) {
        if (!entry.isDirectory()) continue;
        const child = path.join(folder, entry.name);
        if (buildNames.has(entry.name))
          for (const build of [child, ...servedFoldersIn(child)]) builds.add(build);
        else if (depth < deepest && child !== root && !/^(?:node_modules|\..*)$/.test(entry.name))
          queue.push({ folder: child, depth: depth + 1 });
      }
    }
  }
  return { apps: [...apps], builds: [...builds] };
}

/** Whether a file is in a folder with build output. */
export function isBuilt(file: string, { builds }: Pick<AppFolders, 'builds'>): boolean {
  return builds.some((folder) => file.startsWith(folder + path.sep));
}

/** Often only part of a build is served: `dist/client`, `build/client`, `dist/<app>/browser`. */
function servedFoldersIn(build: string): string[] {
  const inner = foldersIn(build);
  return [...inner, ...inner.flatMap(foldersIn)].filter((folder) => servedNames.has(path.basename(folder)));
}

function foldersIn(folder: string): string[] {
  const folders = entriesOf(folder).filter((entry) => entry.isDirectory());
  return folders.slice(0, mostInner).map((entry) => path.join(folder, entry.name));
}

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
