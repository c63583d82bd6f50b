import path from 'node:path';
import { compiledPositions, type CodePosition } from '../../core/classify/server-frame.js';
import { filesBelow, type ProjectFiles } from './project-files.js';
import type { AppFolders } from './served-files.js';

interface NamePlaces {
  readonly files: ProjectFiles;
  readonly folders: AppFolders;
}

const source = /\.(?:go|rs|java|kts?|scala|groovy|cs|swift)$/;
const mostFiles = 3_000;
/** What a stack of the JVM has before the name of a file: `at app//com.shop.Cart.total(`. */
const jvmFrame = /\bat (?:[\w.@-]*\/){0,2}((?:[\w$]{1,100}\.){1,20})[\w$]{1,100}\.[\w$<>]{1,100}\($/;
const longestFrame = 400;

/** A position in a file of the project. */
interface CompiledPlace extends CodePosition {
  /** Relative to the project's root, with `/`. */
  readonly name: string;
}

/** Finds the files of the project that compilers, panics and stacks of compiled languages name. They are listed once. */
export class CompiledFiles {
  #byName: ReadonlyMap<string, readonly string[]> | undefined;

  /** Returns the positions in a text that are in files of the project, in order. */
  placesIn(text: string, places: NamePlaces): CompiledPlace[] {
    return compiledPositions(text).flatMap((found) => {
      const position = withFolderOf(found, text, places.files.workspace);
      const before = text.slice(Math.max(0, position.start - longestFrame), position.start);
      const name = this.#nameOf(position.file, before, places);
      return name === null ? [] : [{ ...position, name }];
    });
  }

  /** A relative path starts at the folder in which the compiler ran; a JVM names only the file, after its package. */
  #nameOf(file: string, before: string, places: NamePlaces): string | null {
    const { files } = places;
    const at = files.find(file);
    if (path.isAbsolute(file)) return at === null ? null : files.relative(at);
    const folder = jvmFrame.exec(before)?.[1]?.replaceAll('.', '/') ?? null;
    if (at !== null && folder === null) return files.relative(at);
    const end = `/${folder ?? ''}${file.replace(/^\.\//, '')}`;
    const named = this.#named(path.posix.basename(file), places).filter((one) => `/${one}`.endsWith(end));
    const inProject = named.filter((one) => !one.startsWith('..'));
    const [name = null, ...others] = inProject.length > 0 ? inProject : named;
    return others.length > 0 ? null : name;
  }

  #named(name: string, { files, folders }: NamePlaces): readonly string[] {
    this.#byName ??= groupedBy(sourcesIn({ files, folders }), (file) => path.posix.basename(file));
    return this.#byName.get(name) ?? [];
  }
}

/** A position in a text ends at whitespace, and the project's own path may contain some. */
function withFolderOf(position: CodePosition, text: string, root: string): CodePosition {
  const start = text.lastIndexOf(`${root}/`, position.end);
  const file = text.slice(start, position.end);
  return start === -1 || start >= position.start || file.includes('\n') || file.includes(':')
    ? position
    : { ...position, file, start };
}

/** Returns the files in these languages of the project and its workspace, relative to its root, without builds and packages. */
function sourcesIn({ files, folders }: NamePlaces): string[] {
  const found = filesBelow([files.root, files.workspace], {
    isWanted: (name) => source.test(name),
    isEntered: (folder) =>
      !/^(?:node_modules|vendor|\..*)$/.test(path.basename(folder)) && !folders.builds.includes(folder),
    most: mostFiles,
  });
  return found.flatMap((file) => files.relative(file) ?? []);
}

/** Groups items by a key, in the order in which the keys first occur. */
function groupedBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
