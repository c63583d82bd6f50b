import { readFileSync, realpathSync, statSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isInside, resolveLinks, relativePath } from '../paths.js';
import { tryOr } from '../result.js';
import { bounds } from './bounded-text.js';

const sourceFile =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less|go|rs|java|kts?|scala|groovy|cs|swift)$/;
/** Folders without sources of the project: packages, builds and hidden folders. */
const skippedFolder = /^(?:node_modules|vendor|cache|dist|build|out|target|www|\..*)$/;
const MAX_LISTED = 20_000;

/**
 * Reads files of the project and its workspace only, because a stack or a source map may name any path, such as `/etc/passwd`. Resolves links
 * before it compares paths. Never throws.
 */
export class ProjectFiles {
  /** The project's root with links resolved, or as given if it does not exist. */
  readonly root: string;
  /** The repository or workspace around the project, also with links resolved; the project itself if there is none. */
  readonly workspace: string;
  readonly #rootAsGiven: string;
  #listed: Map<string, string[]> | undefined;

  constructor(root: string, workspace: string = root) {
    this.#rootAsGiven = path.resolve(root);
    this.root = resolveLinks(root);
    this.workspace = resolveLinks(workspace);
  }

  /** Returns the real path of a file; null if it does not exist, is not a file, or is outside of the workspace. */
  resolveFile(file: string | null): string | null {
    const resolved = file === null ? null : path.resolve(this.root, file);
    const realFile = resolved && tryOr(null, () => realpathSync(resolved));
    if (!realFile || this.toProjectPath(realFile) === null) return null;
    return statSync(realFile, { throwIfNoEntry: false })?.isFile() ? realFile : null;
  }

  /** Returns the text of a file; null if there is none, or it is larger than `maxBytes`. */
  readText(file: string, maxBytes: number = bounds.script): string | null {
    const realFile = this.resolveFile(file);
    return (
      realFile &&
      tryOr(null, () => (statSync(realFile).size > maxBytes ? null : readFileSync(realFile, 'utf8')))
    );
  }

  /**
   * Returns the path relative to the root, with `/`, or null for a file outside of the workspace. In another package of the workspace, it begins with
   * `../`. Does not access the disk.
   */
  toProjectPath(file: string): string | null {
    const root = [this.root, this.#rootAsGiven].find((folder) => isInside(folder, file));
    if (root !== undefined) return relativePath(root, file);
    return isInside(this.workspace, file) ? relativePath(this.root, file) : null;
  }

  /** Returns the sources whose path ends with `name`, the project's own first. Lists the folders at the first call only. */
  listFilesEndingWith(name: string): string[] {
    this.#listed ??= listSourcesByName([this.root, this.workspace]);
    const suffix = `/${name.replace(/^(?:\.?\/)+/, '')}`;
    return (this.#listed.get(path.posix.basename(name)) ?? []).filter((file) => file.endsWith(suffix));
  }

  /** Returns the source whose path ends with `name`, in the project or else in its workspace; null if there are none or several. */
  findOnlyFileEndingWith(name: string): string | null {
    const sources = this.listFilesEndingWith(name);
    const projectSources = sources.filter((file) => isInside(this.root, file));
    const [file = null, ...others] = projectSources.length > 0 ? projectSources : sources;
    return others.length > 0 ? null : file;
  }
}

/** Returns the sources in and below these folders by file name, from upper levels to lower ones. */
function listSourcesByName(folders: readonly string[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  const queue = new Set(folders);
  let count = 0;
  for (const folder of queue) {
    for (const entry of tryOr([], () => readdirSync(folder, { withFileTypes: true }))) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory() && !skippedFolder.test(entry.name)) queue.add(file);
      if (entry.isFile() && sourceFile.test(entry.name))
        files.set(entry.name, [...(files.get(entry.name) ?? []), file]);
      count += 1;
    }
    if (count > MAX_LISTED) break;
  }
  return files;
}
