import { type AppFolders, findAppFolders } from './app-folders.js';
import { CompiledFiles } from './compiled-files.js';
import type { ProjectFiles } from './project-files.js';
import { parseMap, type ParsedMap } from './parse-map.js';

const mostKept = 3;

/**
 * Caches the project's folders and the three maps used last. The failures of one run come from the same few bundles, and
 * parsing a map of 15 MB takes the better part of a second.
 */
export class ParsedMaps {
  readonly compiled = new CompiledFiles();
  readonly #folders = new Map<string, AppFolders>();
  #kept: { readonly text: string; readonly url: string | null; readonly parsed: ParsedMap }[] = [];

  /** Like `findAppFolders`, but searches each project only once. */
  foldersOf(files: ProjectFiles): AppFolders {
    const found = this.#folders.get(files.root) ?? findAppFolders(files);
    this.#folders.set(files.root, found);
    return found;
  }

  /** Like `parseMap`, but cached by text and URL. */
  parse(text: string, url: string | null): ParsedMap {
    const known = this.#kept.find((one) => one.url === url && one.text === text);
    const entry = known ?? { text, url, parsed: parseMap(text, url) };
    this.#kept = [entry, ...this.#kept.filter((one) => one !== entry)].slice(0, mostKept);
    return entry.parsed;
  }
}
