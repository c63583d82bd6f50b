import { readFileSync, realpathSync, statSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isInside, real, relativePath } from '../paths.js';
import { tryOr } from '../result.js';
import { bounds } from './bounded-text.js';

const code = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less|go|rs|java|kts?|scala|groovy|cs|swift)$/;
/** Folders without sources of the project: packages, builds and what is hidden. */
const skipped = /^(?:node_modules|vendor|cache|dist|build|out|target|www|\..*)$/;
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
    this.root = real(root);
    this.workspace = real(workspace);
  }

  /** Returns the real path of a file; null if it does not exist, is not a file, or is outside of the workspace. */
  find(file: string | null): string | null {
    const resolved = file === null ? null : path.resolve(this.root, file);
    const realFile = resolved && tryOr(null, () => realpathSync(resolved));
    if (!realFile || this.relative(realFile) === null) return null;
    return statSync(realFile, { throwIfNoEntry: false })?.isFile() ? realFile : null;
  }

  /** Returns the text of a file; null if there is none, or it is larger than `mostBytes`. */
  text(file: string, mostBytes: number = bounds.script): string | null {
    const realFile = this.find(file);
    return (
      realFile &&
      tryOr(null, () => (statSync(realFile).size > mostBytes ? null : readFileSync(realFile, 'utf8')))
    );
  }

  /**
   * Returns the path relative to the root, with `/`, without looking at the disk. That of a file in another package of the workspace begins with
   * `../`; null if it is outside of the workspace.
   */
  relative(file: string): string | null {
    const root = [this.root, this.#given].find((folder) => isInside(folder, file));
    if (root !== undefined) return relativePath(root, file);
    return isInside(this.workspace, file) ? relativePath(this.root, file) : null;
  }

  /** Returns the sources whose path ends with this one, those of the project first. The folders are listed once. */
  ending(name: string): string[] {
    this.#listed ??= filesByName([this.root, this.workspace]);
    const end = `/${name.replace(/^(?:\.?\/)+/, '')}`;
    return (this.#listed.get(path.posix.basename(name)) ?? []).filter((file) => file.endsWith(end));
  }

  /** Returns the only source whose path ends with this one, in the project or else in its workspace; null if there are several. */
  only(name: string): string | null {
    const sources = this.ending(name);
    const own = sources.filter((file) => isInside(this.root, file));
    const [file = null, ...others] = own.length > 0 ? own : sources;
    return others.length > 0 ? null : file;
  }
}

/** Returns the sources in and below folders by name, each once, those of the upper levels first. */
function filesByName(folders: readonly string[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  const queue = new Set(folders);
  let count = 0;
  for (const folder of queue) {
    for (const entry of tryOr([], () => readdirSync(folder, { withFileTypes: true }))) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() && !skipped.test(entry.name)) queue.add(file);
      if (entry.isFile() && code.test(entry.name))
        files.set(entry.name, [...(files.get(entry.name) ?? []), file]);
      count += 1;
    }
    if (count > mostListed) break;
  }
  return files;
}
