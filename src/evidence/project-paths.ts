import path from 'node:path';
import { findCompiledPositions } from '../diagnose/server-frame.js';
import { applyReplacements } from '../replacements.js';
import type { ProjectFiles } from './project-files.js';
import type { SourceExcerpts } from './source-excerpts.js';

/** How many positions in compiled languages get an excerpt, per text; the decisive one is not always the first. */
const MAX_COMPILED = 5;

/** Makes the paths that compilers and tools print relative to the project's root, and adds excerpts for positions in compiled languages. */
export function rewriteProjectPaths(written: string, files: ProjectFiles, excerpts: SourceExcerpts): string {
  const text = rewriteRelativePaths(written, files);
  let [from, count] = [0, 0];
  const replacements = findCompiledPositions(text).flatMap(({ at, start, end }) => {
    // A position in a text ends at whitespace, and the project's own path may contain some.
    const rootStart = text.lastIndexOf(`${files.workspace}/`, start);
    const begin = rootStart >= from && !/[\n:]/.test(text.slice(rootStart, end)) ? rootStart : start;
    const name = findCompiledSource(
      text.slice(begin, end),
      text.slice(Math.max(0, begin - 400), begin),
      files,
    );
    if (name === null) return [];
    const [line = 1, column] = at.split(':').map(Number);
    if ((count += 1) <= MAX_COMPILED)
      excerpts.add({ name, line, column }, `${name}:${at}`, files.readText(name));
    from = end;
    return [{ start: begin, end, text: name }];
  });
  return applyReplacements(text, replacements);
}

/** The text before the file name in a JVM stack: `at app//com.shop.Cart.total(`. */
const jvmFrame = /\bat (?:[\w.@-]*\/){0,2}((?:[\w$]{1,100}\.){1,20})[\w$]{1,100}\.[\w$<>]{1,100}\($/;

/** Finds the source of a printed position. Compilers print paths relative to the folder in which they ran; a JVM prints the package and the file name. */
function findCompiledSource(file: string, before: string, files: ProjectFiles): string | null {
  const folder = jvmFrame.exec(before)?.[1]?.replaceAll('.', '/') ?? '';
  const pathMatch = folder === '' ? files.resolveFile(file) : null;
  const match = pathMatch ?? (path.isAbsolute(file) ? null : files.findOnlyFileEndingWith(folder + file));
  return match && files.toProjectPath(match);
}

const relativeCode =
  /(?<=^|[\s"'`(])(?:\.\/)?((?:[\w.@+-]{1,100}\/){1,20}[\w.@+[\]-]{1,100}\.(?:[cm]?[jt]sx?|vue|svelte|astro|mdx|s?css|sass|less))(?=["'`):\s(]|$)/gm;
const MAX_PATHS = 200;

/**
 * Makes paths that are relative to another folder of the workspace (as from a package's `vite build`) relative to the project's root. Leaves a path
 * unchanged if it exists at the root, in several folders or in none.
 */
function rewriteRelativePaths(text: string, files: ProjectFiles): string {
  const rewritten = new Map<string, string | null>();
  return text.replace(relativeCode, (match, named: string) => {
    if (!rewritten.has(named) && rewritten.size < MAX_PATHS) {
      const isAsWritten = named.includes('node_modules/') || files.resolveFile(named) !== null;
      const source = isAsWritten ? null : files.findOnlyFileEndingWith(named);
      rewritten.set(named, source && files.toProjectPath(source));
    }
    return rewritten.get(named) ?? match;
  });
}
