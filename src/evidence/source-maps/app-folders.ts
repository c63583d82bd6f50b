import path from 'node:path';
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
