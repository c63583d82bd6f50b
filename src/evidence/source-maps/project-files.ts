import { readFileSync, realpathSync, statSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { relativePath } from '../../paths.js';
import { bounds } from '../bounded-text.js';

const code = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less|go|rs|java|kts?|scala|groovy|cs|swift)$/;
/** Packages, and hidden folders except those that frameworks build into. */
const skipped = /^(?:node_modules|vendor|cache|\.(?!next$|output$|svelte-kit$|vite$).*)$/;
const built = /(?:^|\/)(?:dist|build|out|target|\.next|\.output|\.svelte-kit|\.vite|www)\//;
const mostListed = 20_000;

/**
 * Reads files of the project and of the workspace that contains it, and only those: a stack or a source map may name any path, such as
 * `/etc/passwd`. Resolves links before it compares paths. Never throws.
 */
export class ProjectFiles {
  /** The project's root with links resolved, or as given if it does not exist. */
  readonly root: string;
  /** The repository or workspace that contains the project, in the same form; the project itself if there is none. */
  readonly workspace: string;
  readonly #given: string;
  #listed: Map<string, string[]> | undefined;

  constructor(root: string, workspace: string = root) {
    this.#given = path.resolve(root);
    this.root = realPath(this.#given) ?? this.#given;
    this.workspace = realPath(workspace) ?? this.root;
  }

  /** Returns the real path of a file; null if it does not exist, is not a file, or is outside of the workspace. */
  find(file: string): string | null {
    if (file.includes('\0')) return null;
    const place = realPath(path.resolve(this.root, file));
    if (place === null || this.relative(place) === null) return null;
    return statSync(place, { throwIfNoEntry: false })?.isFile() ? place : null;
  }

  /** Returns the text of a file; null if there is none, or it is larger than `mostBytes`. */
  text(file: string, mostBytes: number = bounds.script): string | null {
    const place = this.find(file);
    return place === null ? null : textOf(place, mostBytes);
  }

  /**
   * Returns the path relative to the root, with `/`, without looking at the disk. That of a file in another package of the workspace begins with
   * `../`; null if it is outside of the workspace.
   */
  relative(file: string): string | null {
    const root = [this.root, this.#given].find((folder) => isBelow(folder, file));
    if (root !== undefined) return relativePath(root, file);
    return isBelow(this.workspace, file) ? relativePath(this.root, file) : null;
  }

  /** Returns the files with code whose path ends with this one, those of the project first. They are listed once. */
  ending(name: string): string[] {
    this.#listed ??= listed([this.root, this.workspace]);
    const end = `/${name.replace(/^(?:\.?\/)+/, '')}`;
    return (this.#listed.get(path.posix.basename(name)) ?? []).filter((file) => file.endsWith(end));
  }

  /** Returns the one source whose path ends with this one, in the project or else in its workspace; null if there are others. */
  only(name: string): string | null {
    const sources = this.ending(name).filter((file) => !this.isBuilt(file));
    const own = sources.filter((file) => isBelow(this.root, file));
    const [file = null, ...others] = own.length > 0 ? own : sources;
    return others.length > 0 ? null : file;
  }

  /** Whether a file is in a folder that builds are written into. */
  isBuilt(file: string): boolean {
    return built.test(this.relative(file) ?? '');
  }
}

/** Returns the text of a file; null if it cannot be read, or is larger than `mostBytes`. */
export function textOf(file: string, mostBytes: number = bounds.sourceMap): string | null {
  try {
    return statSync(file).size > mostBytes ? null : readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Returns the files with code in and below folders by name, each once, those of the upper levels first. */
function listed(folders: readonly string[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  const queue = new Set(folders);
  let count = 0;
  for (const folder of queue) {
    for (const entry of entriesOf(folder)) {
      const place = path.join(folder, entry.name);
      if (entry.isDirectory() && !skipped.test(entry.name)) queue.add(place);
      if (entry.isFile() && code.test(entry.name))
        files.set(entry.name, [...(files.get(entry.name) ?? []), place]);
      count += 1;
    }
    if (count > mostListed) break;
  }
  return files;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isBelow(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}

function realPath(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch {
    return null;
  }
}
