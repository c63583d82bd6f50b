import path from 'node:path';
import { compiledPositions } from '../diagnose/server-frame.js';
import { withReplacements } from '../replacements.js';
import type { ProjectFiles } from './project-files.js';
import type { SourceExcerpts } from './source-excerpts.js';

/** For how many positions in compiled languages in one text the lines are kept: the position that decides is not always the first. */
const mostCompiled = 5;

/** Rewrites the paths that compilers and tools print to start at the project's root, and keeps the lines around positions in compiled languages. */
export function withProjectPaths(written: string, files: ProjectFiles, excerpts: SourceExcerpts): string {
  const text = fromRoot(written, files);
  let [from, count] = [0, 0];
  const replacements = compiledPositions(text).flatMap(({ at, start, end }) => {
    // A position in a text ends at whitespace, and the project's own path may contain some.
    const rooted = text.lastIndexOf(`${files.workspace}/`, start);
    const begin = rooted >= from && !/[\n:]/.test(text.slice(rooted, end)) ? rooted : start;
    const name = compiledName(text.slice(begin, end), text.slice(Math.max(0, begin - 400), begin), files);
    if (name === null) return [];
    const [line = 1, column] = at.split(':').map(Number);
    if ((count += 1) <= mostCompiled) excerpts.add({ name, line, column }, `${name}:${at}`, files.text(name));
    from = end;
    return [{ start: begin, end, text: name }];
  });
  return withReplacements(text, replacements);
}

/** What a stack of the JVM has before the name of a file: `at app//com.shop.Cart.total(`. */
const jvmFrame = /\bat (?:[\w.@-]*\/){0,2}((?:[\w$]{1,100}\.){1,20})[\w$]{1,100}\.[\w$<>]{1,100}\($/;

/** A relative path starts at the folder in which the compiler ran; a JVM names only the file, after its package. */
function compiledName(file: string, before: string, files: ProjectFiles): string | null {
  const folder = jvmFrame.exec(before)?.[1]?.replaceAll('.', '/') ?? '';
  const named = folder === '' ? files.find(file) : null;
  const match = named ?? (path.isAbsolute(file) ? null : files.only(folder + file));
  return match && files.relative(match);
}

const relativeCode =
  /(?<=^|[\s"'`(])(?:\.\/)?((?:[\w.@+-]{1,100}\/){1,20}[\w.@+[\]-]{1,100}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less))(?=["'`):\s(]|$)/gm;
const mostPaths = 200;

/**
 * Rewrites paths that a tool printed relative to a folder of the project or its workspace (a package's `vite build`) to start at the
 * project's root. Leaves a path unchanged if it exists at the root, in several such folders or in none.
 */
function fromRoot(text: string, files: ProjectFiles): string {
  const known = new Map<string, string | null>();
  return text.replace(relativeCode, (match, named: string) => {
    if (!known.has(named) && known.size < mostPaths) {
      const isAsWritten = named.includes('node_modules/') || files.find(named) !== null;
      const source = isAsWritten ? null : files.only(named);
      known.set(named, source && files.relative(source));
    }
    return known.get(named) ?? match;
  });
}
