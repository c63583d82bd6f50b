import { readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

/** What reading a file of the project gave. */
export type ReadOutcome =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'too-large'; readonly bytes: number };

/**
 * Reads files of the project, and only those: what a stack or a source map names may be anything, `/etc/passwd` say. Links
 * are followed before the comparison. Never throws.
 */
export class ProjectFiles {
  /** The project's root without links, or as it was given where it does not exist. */
  readonly root: string;
  readonly #given: string;
  readonly #places = new Map<string, string | null>();

  constructor(root: string) {
    this.#given = path.resolve(root);
    this.root = realPath(this.#given) ?? this.#given;
  }

  /** Where a file of the project really lies, or null where it is none, is outside, or is not there. */
  find(file: string): string | null {
    const known = this.#places.get(file);
    if (known !== undefined) return known;
    const place = this.#look(file);
    this.#places.set(file, place);
    return place;
  }

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

  /** A path below the root, by name alone, with `/`; null where it lies outside. */
  relative(file: string): string | null {
    for (const root of [this.root, this.#given]) {
      const relative = path.relative(root, file);
      if (relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative))
        return relative.replaceAll(path.sep, '/');
    }
    return null;
  }

  #look(file: string): string | null {
    if (file.includes('\0')) return null;
    const place = realPath(path.resolve(this.root, file));
    if (place === null || this.relative(place) === null) return null;
    return statSync(place, { throwIfNoEntry: false })?.isFile() ? place : null;
  }
}

function realPath(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch {
    return null;
  }
}
