import { readFileSync, realpathSync, statSync, readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { relativePath } from '../../paths.js';
import { bounds } from '../bounded-text.js';

/** The result of reading a file of the project. */
export type ReadOutcome =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'too-large'; readonly bytes: number };

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

  constructor(root: string, workspace: string = root) {
    this.#given = path.resolve(root);
    this.root = realPath(this.#given) ?? this.#given;
    this.workspace = realPath(workspace) ?? this.root;
  }

  /** Returns the real path of a file; null if it does not exist, is not a file, or is outside of the workspace. */
  readonly find = oncePerKey((file) => this.#look(file));

  read(file: string, mostBytes: number): ReadOutcome {
    const place = this.find(file);
    if (place === null) return { kind: 'absent' };
    try {
      const { size } = statSync(place);
      if (size > mostBytes) return { kind: 'too-large', bytes: size };
      return { kind: 'read', text: readFileSync(place, 'utf8') };
    } catch {
      return { kind: 'absent' };
    }
  }

  /** Returns the text of a script or source; null if there is none, or it is too large. */
  text(file: string): string | null {
    const read = this.read(file, bounds.script);
    return read.kind === 'read' ? read.text : null;
  }

  /**
   * Returns the path relative to the root, with `/`, without looking at the disk. That of a file in another package of the workspace begins with
   * `../`; null if it is outside of the workspace.
   */
  relative(file: string): string | null {
    const root = [this.root, this.#given].find((one) => isBelow(one, file));
    if (root !== undefined) return relativePath(root, file);
    return isBelow(this.workspace, file) ? relativePath(this.root, file) : null;
  }

  #look(file: string): string | null {
    if (file.includes('\0')) return null;
    const place = realPath(path.resolve(this.root, file));
    if (place === null || this.relative(place) === null) return null;
    return statSync(place, { throwIfNoEntry: false })?.isFile() ? place : null;
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

/** Returns the entries of a folder; none if it cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** How a search for files is bounded. */
export interface FileSearch {
  readonly isWanted: (name: string) => boolean;
  /** Whether to search the folder at this path, too. */
  readonly isEntered: (folder: string) => boolean;
  /** The maximum number of files to return. */
  readonly most: number;
}

/** Returns the paths of files in and below folders, each once, those of the upper levels first. */
export function filesBelow(folders: readonly string[], { isWanted, isEntered, most }: FileSearch): string[] {
  const files: string[] = [];
  const queue = new Set(folders);
  for (const folder of queue) {
    for (const entry of entriesOf(folder)) {
      const place = path.join(folder, entry.name);
      if (entry.isFile() && isWanted(entry.name)) files.push(place);
      else if (entry.isDirectory() && isEntered(place)) queue.add(place);
    }
    if (files.length >= most) break;
  }
  return files.slice(0, most);
}

/** Wraps a function so that it runs once for each key and its results are remembered. */
export function oncePerKey<T>(work: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    if (!known.has(key)) known.set(key, work(key));
    return known.get(key) as T;
  };
}
