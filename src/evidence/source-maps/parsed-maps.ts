import { type AppFolders, findAppFolders } from './app-folders.js';
import { parseMap, type ParsedMap } from './parse-map.js';
import { SourceByText } from './source-by-text.js';

const mostKept = 3;

/**
 * Keeps the maps that were read last, at most three, and the project's folders. The failures of one run come out of the same few bundles, and a map of 15 MB
 * takes the better part of a second to read.
 */
export class ParsedMaps {
  /** Where the lines of builds without a map come from. */
  readonly byText = new SourceByText();
  readonly #folders = new Map<string, AppFolders>();
  #kept: { readonly text: string; readonly url: string | null; readonly parsed: ParsedMap }[] = [];

  /** As `findAppFolders`, looked for once. */
  foldersOf(root: string): AppFolders {
    const folders = this.#folders.get(root) ?? findAppFolders(root);
    this.#folders.set(root, folders);
    return folders;
  }

  /** As `parseMap`; the same text found at the same place is read once. */
  parse(text: string, url: string | null): ParsedMap {
    const known = this.#kept.find((one) => one.url === url && one.text === text);
    const entry = known ?? { text, url, parsed: parseMap(text, url) };
    this.#kept = [entry, ...this.#kept.filter((one) => one !== entry)].slice(0, mostKept);
    return entry.parsed;
  }
}
