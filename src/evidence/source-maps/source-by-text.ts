import path from 'node:path';
import { filesBelow } from './folder-entries.js';
import type { MapPlaces } from './map-places.js';

/** A line of a file of the project; `file` is absolute, line and column count from 1. */
export interface SourceLine {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type BuiltLine = Pick<SourceLine, 'file' | 'line'>;
type TextPlaces = Pick<MapPlaces, 'files' | 'folders'>;

const source = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i;
const mostFiles = 3_000;
/** The maximum number of built lines to look up in one suite run. */
const mostSought = 40;
/** How many lines above and below are compared; in the source they may be up to half as many lines further away. */
const near = 6;
/** How many of these lines have to match. */
const enough = 3;

/** Finds lines of builds without a source map in the project's sources, which are read once. */
export class SourceByText {
  readonly #found = new Map<string, SourceLine | null>();
  #sources: ReadonlyMap<string, string> | undefined;

  /**
   * Returns the source line that a line of a build was made from, by comparing its words and those of the lines around
   * it. Ignores what compilers add (types, `var`, `_this`). Null unless one place matches better than any other. Results
   * are cached.
   */
  find(built: BuiltLine, places: TextPlaces): SourceLine | null {
    const key = `${built.file}:${built.line}`;
    const known = this.#found.get(key);
    if (known !== undefined || this.#found.size >= mostSought) return known ?? null;
    const found = this.#seek(built, places);
    this.#found.set(key, found);
    return found;
  }

  #seek(built: BuiltLine, places: TextPlaces): SourceLine | null {
    const { files } = places;
    const lines = (files.text(built.file) ?? '').split('\n');
    const words = wordsOf(lines[built.line - 1] ?? '');
    const rarest = words.toSorted((a, b) => b.length - a.length)[0];
    if (words.length < 2 || rarest === undefined || rarest.length < 4) return null;
    const around = [
      ...lines.slice(Math.max(0, built.line - 1 - near), built.line - 1),
      ...lines.slice(built.line, built.line + near),
    ];
    const neighbors = around.map(wordsOf).filter((one) => one.length > 0);
    this.#sources ??= new Map(sourcesIn(places).map((file) => [file, files.text(file) ?? '']));
    const found = [...this.#sources].flatMap(([file, whole]) => {
      if (!whole.includes(rarest)) return [];
      const text = whole.split('\n');
      return text.flatMap((line, at) => {
        if (!line.includes(rarest) || !isWithin(words, wordsOf(line))) return [];
        const beside = text.slice(Math.max(0, at - near * 1.5), at + near * 1.5).map(wordsOf);
        const same = neighbors.filter((one) => beside.some((other) => isWithin(one, other))).length;
        return same < enough ? [] : [{ file, line: at + 1, column: line.search(/\S/) + 1, same }];
      });
    });
    const [best, next] = found.toSorted((a, b) => b.same - a.same);
    if (!best || best.same === next?.same) return null;
    return { file: best.file, line: best.line, column: best.column };
  }
}

/** Returns the identifiers in a line, without those that compilers add. */
function wordsOf(line: string): string[] {
  const words = line.slice(0, 1_000).match(/[A-Za-z$_][\w$]*/g) ?? [];
  return words
    .map((word) => (word === '_this' ? 'this' : word))
    .filter((word) => !/^(?:var|let|const|void|_[a-z]\d*)$/.test(word));
}

/** Whether `others` contains the words in the same order. */
function isWithin(words: readonly string[], others: readonly string[]): boolean {
  let at = 0;
  for (const other of others) if (other === words[at]) at += 1;
  return at === words.length;
}

/** Returns the code files of the project and its workspace, without builds and packages. */
function sourcesIn({ files, folders }: TextPlaces): string[] {
  return filesBelow([files.root, files.workspace], {
    isWanted: (name) => source.test(name) && !/\.d\.[cm]?ts$/.test(name),
    isEntered: (folder) =>
      !/^(?:node_modules|\..*)$/.test(path.basename(folder)) && !folders.builds.includes(folder),
    most: mostFiles,
  });
}
